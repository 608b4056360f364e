//! Doors of the kernel that a shell has no business with.

use super::world::Free::{Says, Untried};
use super::world::{Hold, Scope, World, holds, ways};

ways! {
    // The filter of system calls.
    a_user_namespace_is_not_made: Src, "unshare -r true && echo made; unshare -rm true && echo made",
        Says("made"), ["not permitted"];
    a_clone_with_a_namespace_is_not_made: Src, "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 220 : 56; \
        my $p = syscall($n, 0x10000000 | 17, 0, 0, 0, 0); die \"clone: $!\" if $p < 0; \
        if ($p == 0) { exit 0 } print \"cloned\"; wait'", Says("cloned"), ["not permitted"];
    the_newer_clone_is_not_there: Src, "perl -e '$! = 0; syscall(435, 0, 0) == -1 and print \"clone3: $!\"'",
        Says("nvalid argument"), ["not implemented"];
    another_namespace_is_not_entered: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 268 : 308; syscall($n, 0, 0) == -1 and print \"setns: $!\"'",
        Says("nvalid argument"), ["not permitted"];
    io_uring_is_not_there: Src, "perl -e 'syscall(425, 0, 0) == -1 and print \"io_uring: $!\"'",
        Untried, ["not permitted"];
    a_file_is_not_opened_by_its_number: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 265 : 304; syscall($n, -100, 0, 0) == -1 and print \"handle: $!\"'",
        Untried, ["not permitted"];
    no_program_for_the_kernel_is_loaded: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 280 : 321; syscall($n, 0, 0, 0) == -1 and print \"bpf: $!\"'",
        Says("nvalid argument"), ["not permitted"];
    no_fault_is_handled_for_the_kernel: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 282 : 323; \
        my $f = syscall($n, 1); print $f >= 0 ? \"opened\" : \"userfaultfd: $!\"'", Untried,
        ["not permitted"];
    performance_is_not_watched: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 241 : 298; syscall($n, 0, 0, -1, -1, 0) == -1 and print \"perf: $!\"'",
        Says("Bad address"), ["not permitted"];
    the_users_keys_of_the_kernel_are_not_used: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 219 : 250; \
        my $k = syscall($n, 0, -4, 0); print $k >= 0 ? \"a keyring\" : \"keyctl: $!\"'", Untried,
        ["not permitted"];
    nothing_is_typed_into_a_terminal: Src, "perl -e 'my $c = \"x\"; ioctl(STDIN, 0x5412, $c) or print \"TIOCSTI: $!\"'",
        Says("nappropriate ioctl"), ["not permitted"];
    the_layout_of_memory_is_not_changed_for_others: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 92 : 135; \
        print syscall($n, 0x0040000) == -1 ? \"personality: $!\" : \"changed\"'", Says("changed"),
        ["not permitted"];
    the_kernels_log_is_not_read: Src, "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 116 : 103; \
        my $s = syscall($n, 10, 0, 0); print $s >= 0 ? \"a log\" : \"syslog: $!\"'", Untried,
        ["not permitted"];
    the_new_ways_to_mount_are_closed: Src, "perl -e 'for my $n (428, 429, 430, 431, 432, 433, 442) { \
        $! = 0; syscall($n, -1, 0, 0, 0, 0) == -1 and print \"$n: $!\\n\" }'", Says("Bad"),
        ["not permitted"];
    // No new privileges.
    a_program_that_becomes_root_does_not: Src, "su -c id root </dev/null || sudo -n id; \
        grep NoNewPrivs:.1 /proc/self/status && echo kept", Untried, ["kept"];
    no_privilege_is_left_that_could_undo_it: Src, "grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status; \
        echo end", Untried, ["end"];
    // A mount that is read-only, and no rule to write there.
    the_kernels_settings_are_not_written: Src, "echo x > /proc/sys/kernel/core_pattern", Untried,
        ["denied", "Read-only"];
    the_kernels_devices_are_not_opened: Src, "cat /dev/mem /dev/kmsg /dev/vda /dev/sda; ls /dev/pts",
        Untried, ["denied"];
    what_filters_a_process_is_not_taken_off: Src, "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 167 : 157; \
        print syscall($n, 38, 0, 0, 0, 0) == -1 ? \"denied: $!\" : \"taken off\"'", Untried,
        ["nvalid argument"];
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_of_other_architectures_are_no_way_around() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Src);
    // `getpid` by its number in x32; where the kernel has x32 it answers, and the filter must not let it.
    let x32 = world
        .held(Hold::Mounts, "perl -e 'print syscall(0x40000027) == -1 ? \"no: $!\" : \"yes\"'");
    assert!(x32.out.contains("not implemented"), "{x32:?}");
    // A program of 32 bits, 84 bytes long, that only exits.
    let elf: &[u8] = &[
        0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 1, 0, 0, 0,
        0x54, 0x80, 4, 8, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x34, 0, 0x20, 0, 1, 0, 0, 0,
        0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 4, 8, 0, 0x80, 4, 8, 0x60, 0, 0, 0, 0x60,
        0, 0, 0, 5, 0, 0, 0, 0, 0x10, 0, 0, 0x31, 0xdb, 0xb8, 1, 0, 0, 0, 0xcd, 0x80, 0x90,
        0x90, 0x90,
    ];
    let program = world.path("ws/src/small");
    std::fs::write(&program, elf).unwrap();
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let free = world.free("src/small; echo ended $?");
    let held = world.held(Hold::Mounts, "src/small; echo ended $?");
    if free.out == "ended 0\n" {
        assert!(!held.out.contains("ended 0"), "{held:?}");
    }
}

#[test]
fn privileges_are_given_up_in_every_set() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Src);
    let run = world.held(Hold::Mounts, "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status");
    for line in run.out.lines() {
        let set = u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
        // Root keeps what it needs to do with its own files what their owner could.
        assert_eq!(set & !0b1_1011, 0, "{line}");
    }
    assert_eq!(run.out.lines().count(), 5, "{run:?}");
}

#[test]
fn shared_memory_by_number_is_not_that_of_the_user() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Src);
    let key = 0x6b69_0000 + std::process::id() % 0xffff;
    let made = world.free(&format!("perl -e 'print shmget({key}, 4096, 01600)'"));
    let look = format!("perl -e 'print defined shmget({key}, 0, 0) ? \"seen\" : \"not: $!\"'");
    let seen = world.free(&look);
    let runs = holds().into_iter().map(|hold| world.held(hold, &look)).collect::<Vec<_>>();
    world.free(&format!("perl -e 'shmctl({}, 0, 0)'", made.out));
    assert_eq!(seen.out, "seen", "{made:?}");
    for run in runs {
        assert!(run.out.contains("not: "), "{run:?}");
    }
}
