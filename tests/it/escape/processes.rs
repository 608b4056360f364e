//! Other processes of the user: the supervisor, killick, the terminal.

use super::world::Free::{Changes, Says, Untried};
use super::world::{Hold, Scope, World, holds, ways};

ways! {
    // Landlock from version 6 on.
    another_process_gets_no_signal: Src, "kill -0 $PPID && echo reached", Says("reached"),
        ["not permitted"];
    // Landlock: no process outside is looked into.
    the_environment_of_another_process_is_not_read: Src, "cat /proc/$PPID/environ", Untried,
        ["denied"];
    the_memory_of_another_process_is_not_opened: Src, "cat /proc/$PPID/mem", Untried, ["denied"];
    the_files_of_another_process_are_not_listed: Src, "cat /proc/$PPID/fd/0; readlink /proc/$PPID/fd/0 && echo told; \
        ls -l /proc/$PPID/fd", Untried, ["denied"];
    the_root_of_another_process_is_not_entered: Src, "ls /proc/$PPID/root/; cat /proc/1/root/etc/hostname",
        Untried, ["denied"];
    the_working_folder_of_another_process_is_not_entered: Src, "ls /proc/$PPID/cwd/", Untried,
        ["denied"];
    the_name_spaces_of_another_process_are_not_opened: Src, "cat /proc/$PPID/ns/mnt; \
        nsenter -t $PPID -m true", Untried, ["denied"];
    // The filter of system calls.
    a_process_is_not_traced: Src, "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 117 : 101; \
        print syscall($n, 0, 0, 0, 0) == -1 ? \"ptrace: $!\" : \"traced\"'", Says("traced"),
        ["not permitted"];
    the_memory_of_a_process_is_not_read: Src, "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 270 : 310; \
        print syscall($n, $$, 0, 0, 0, 0, 0) == -1 ? \"vm: $!\" : \"read\"'", Says("read"),
        ["not permitted"];
    a_file_of_another_process_is_not_taken: Src, "perl -e 'my $p = syscall(434, getppid(), 0); \
        print syscall(438, $p, 0, 0) == -1 ? \"pidfd: $!\" : \"taken\"'", Untried, ["not permitted"];
    the_limits_of_another_process_are_not_changed: Src,
        "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 261 : 302; my $l = pack(\"QQ\", 64, 64); \
        print syscall($n, getppid(), 7, $l, 0) == -1 ? \"limits: $!\" : \"changed\"'", Untried,
        ["not permitted"];
    // Nothing that runs as another user or at another time can be told what to do.
    a_job_for_later_is_not_left: Src, "echo 'echo evil > $OUT/victim' | at now; \
        (echo '* * * * * evil' | crontab -); echo x > /var/spool/cron/crontabs/root; echo end", Untried,
        ["denied", "Read-only", "not found"];
    the_manager_of_services_is_not_asked: Src, "systemd-run --user true; \
        dbus-send --session --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames; \
        perl -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or print \"socket: $!\"'", Untried,
        ["denied"];
    a_session_of_its_own_is_held_all_the_same: Src,
        "setsid -w sh -c 'echo evil > $OUT/victim'", Changes, ["denied", "Read-only"];
    a_process_whose_parent_ends_is_held_all_the_same: Src,
        "(sh -c '(sleep 0; echo evil > $OUT/victim) 2>&1 &'; wait) | cat", Changes,
        ["denied", "Read-only"];
    killick_within_is_held_all_the_same: Src,
        "$KILLICK -C / call write path=$OUT/victim content=evil; \
        $KILLICK -C $OUT call write path=victim content=evil", Changes,
        ["denied", "Read-only", "refused", "io:", "cannot"];
}

#[test]
fn no_file_is_inherited_that_whoever_started_killick_left_open() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Src);
    let run = world.held(Hold::Mounts, "ls /proc/self/fd");
    // The three standard files, and the folder that is listed.
    assert_eq!(run.out, "0\n1\n2\n3\n", "{run:?}");
}

#[test]
fn the_supervisor_outlives_a_command_that_would_kill_it() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Src);
    for hold in holds() {
        let run = world.held(hold, "kill -9 $PPID; kill -9 -1; echo still");
        // The last one reaches whoever is held alike, which is the shell itself or nobody.
        assert!(run.err.contains("not permitted"), "{hold:?} {run:?}");
    }
}
