//! Writing and reading files outside, by every name that they have.

use super::world::Free::{Changes, Says, Untried};
use super::world::{Hold, Scope, World, holds, ways};

ways! {
    // Landlock: no rule for the folder outside.
    a_path_outside_is_not_written: Src, "echo x > $OUT/victim", Changes, ["denied", "Read-only"];
    a_path_outside_is_not_read: Src, "cat $OUT/secret", Says("the secret outside"), ["denied"];
    a_part_of_the_workspace_that_is_not_granted_is_not_read: Src, "cat doc/secret.txt",
        Says("the secret of"), ["denied"];
    a_part_of_the_workspace_that_is_not_granted_is_not_written: Src, "echo x >> doc/b.txt", Changes,
        ["denied", "Read-only"];
    dots_do_not_lead_out: Src, "cd src; echo x > ../../out/victim", Changes, ["denied", "Read-only"];
    a_symlink_that_was_there_does_not_lead_out: Src, "echo x > src/link", Changes,
        ["denied", "Read-only"];
    a_symlink_that_is_made_does_not_lead_out: Src, "ln -s $OUT src/l && echo x > src/l/victim",
        Changes, ["denied", "Read-only"];
    // Landlock: a link may give no more rights than its source has.
    a_hard_link_is_not_made_to_a_file_outside: Src,
        "ln $OUT/victim src/h && echo x > src/h", Changes, ["denied", "not permitted", "cross-device"];
    a_file_outside_is_not_moved_in: Src, "mv $OUT/victim src/v", Changes,
        ["denied", "Read-only", "cannot"];
    a_file_is_not_moved_over_one_outside: Src, "mv src/a.txt $OUT/victim", Changes,
        ["denied", "Read-only", "cannot"];
    a_file_outside_is_not_removed: Src, "rm -f $OUT/victim", Changes, ["denied", "Read-only"];
    a_folder_outside_is_not_made: Src, "mkdir $OUT/new", Changes, ["denied", "Read-only"];
    a_folder_outside_is_not_renamed: Src, "mv $OUT $OUT-2", Changes, ["denied", "Read-only", "cannot"];
    // Landlock from version 3 on.
    a_file_outside_is_not_truncated: Src,
        "perl -e 'truncate(\"$ENV{OUT}/victim\", 0) or die \"truncate: $!\"'", Changes,
        ["denied", "Read-only"];
    a_file_outside_is_not_truncated_on_opening: Src,
        "perl -e 'use Fcntl; sysopen(F, \"$ENV{OUT}/victim\", O_RDONLY|O_TRUNC) or die \"open: $!\"'",
        Changes, ["denied", "Read-only"];
    // The kernel's own names of the root and of working folders lead to the same mounts and rules.
    the_root_of_a_process_does_not_lead_out: Src, "echo x > /proc/self/root$OUT/victim", Changes,
        ["denied", "Read-only"];
    a_working_folder_outside_does_not_lead_out: Src,
        "cd $OUT; echo x > victim; echo x > /proc/self/cwd/victim", Changes, ["denied", "Read-only"];
    a_file_without_a_name_is_not_linked_outside: Src,
        "perl -e 'use Fcntl; sysopen(F, \"src\", O_RDWR|020200000) or die \"open: $!\"; \
         link(\"/proc/self/fd/\".fileno(F), \"$ENV{OUT}/new\") or die \"link: $!\"; '", Untried,
        ["denied", "Read-only", "cross-device", "not permitted"];
    a_pipe_with_a_name_is_not_made_outside: Src, "mkfifo $OUT/fifo", Changes, ["denied", "Read-only"];
    a_device_is_not_made: Src, "mknod src/disk b 254 0", Untried, ["denied", "not permitted"];
    an_interpreter_is_held_like_the_shell: Src,
        "perl -e 'open(F, \">\", \"$ENV{OUT}/victim\") or die \"open: $!\"; print F 1'", Changes,
        ["denied", "Read-only"];
    a_second_interpreter_is_held_like_the_shell: Src,
        "python3 -c 'import os; open(os.environ[\"OUT\"] + \"/victim\", \"w\")'", Changes,
        ["denied", "Read-only", "rror"];
    an_editor_is_held_like_the_shell: Src, "sed -i s/untouched/changed/ $OUT/victim", Changes,
        ["denied", "Read-only", "couldn't"];
    a_program_without_a_file_is_held_like_the_shell: Src, MEMFD, Says("untouched"), ["denied"];
    a_library_that_is_loaded_first_is_held_like_the_shell: Src,
        "LD_PRELOAD=$OUT/secret cat $OUT/secret", Says("the secret outside"), ["denied"];
    the_users_start_file_is_not_written: Whole, "echo evil >> ~/.bashrc", Changes,
        ["denied", "Read-only"];
    the_users_keys_are_not_read: Whole, "cat ~/.ssh/id_ed25519", Says("the secret key"), ["denied"];
    the_users_settings_are_not_written: Whole,
        "echo '{\"sandbox\": \"off\"}' > ~/.config/killick/settings.json", Changes,
        ["denied", "Read-only"];
    killicks_state_is_not_written: Whole, "echo '{}' > ~/.local/state/killick/trust.json; \
        touch ~/.local/state/killick/x", Changes, ["denied", "Read-only"];
    killicks_state_is_not_read: Whole, "ls ~/.local/state/killick", Says("trust.json"), ["denied"];
    // The mounts; without them the folder's children have rules of their own.
    the_projects_settings_are_not_written: Whole, "echo '{\"tools\": []}' > .killick/settings.json", Changes,
        ["denied", "Read-only"];
    what_the_project_loads_is_not_written: Whole, "echo evil > .killick/init.lisp", Changes,
        ["denied", "Read-only"];
    the_folder_of_settings_is_not_moved_away: Whole, "mv .killick k; mkdir .killick; \
        echo '{}' > .killick/settings.json", Changes, ["denied", "busy"];
    the_persons_own_settings_are_not_read: Whole, "cat .killick/settings.local.json; echo end; \
        cat $OUT/secret", Says("net/fetch"), ["end"];
    // A process's root cannot be changed without privileges, and the filter forbids the attempt.
    another_root_is_not_entered: Src, "PATH=$PATH:/usr/sbin:/sbin; chroot $OUT /bin/true; chroot . true", Untried,
        ["not permitted"];
    shared_memory_of_others_is_not_seen: Src, "ls /dev/shm; echo x > /dev/shm/killick-escape-$$ && \
        ls /dev/shm; echo end; cat $OUT/secret", Untried, ["end"];
}

const MEMFD: &str = "perl -e 'my $n = `uname -m` =~ /aarch64/ ? 279 : 319; \
    my $name = \"x\"; my $fd = syscall($n, $name, 0); open(F, \">&=\", $fd) or die $!; open(C, \"<\", \"/bin/cat\"); \
    binmode C; binmode F; print F do { local $/; <C> }; F->flush() if F->can(\"flush\"); \
    exec(\"/proc/self/fd/$fd\", \"$ENV{OUT}/victim\") or print \"exec denied: $!\"'";

#[test]
fn mode_and_times_outside_are_kept_where_there_are_mounts() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    for command in
        ["chmod 777 $OUT/victim", "touch -d 2001-01-01 $OUT/victim", "chmod 777 .git"]
    {
        let world = World::new(Scope::Src);
        let before = world.picture();
        let run = world.held(Hold::Mounts, command);
        assert!(run.all().contains("Read-only"), "{run:?}");
        assert_eq!(world.picture(), before);
    }
}

#[test]
fn where_the_shell_may_write_it_does() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    for hold in holds() {
        let world = World::new(Scope::Src);
        let run = world.held(
            hold,
            "set -e; echo x > src/work/new; echo y >> src/a.txt; rm src/work/x; mkdir -p src/work/d/e; \
             mv src/work/new src/work/d/e/f; ln src/work/d/e/f src/work/d/g; echo z > $TMPDIR/t; cat $TMPDIR/t; \
             chmod 600 src/work/d/g; echo done",
        );
        assert_eq!(run.out, "z\ndone\n", "{hold:?} {run:?}");
        assert_eq!(std::fs::read_to_string(world.path("ws/src/work/d/e/f")).unwrap(), "x\n");
    }
}
