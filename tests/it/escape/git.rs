//! Repositories' stores: what git runs for the user must not be what a restricted shell wrote.

use super::world::Free::{Changes, Untried};
use super::world::{Hold, Scope, World, holds, ways};

ways! {
    // A mount that is read-only; without mounts Landlock, which has no rule for the store.
    a_hook_is_not_written: Whole, "echo evil > .git/hooks/post-commit", Changes,
        ["Read-only", "denied"];
    a_hook_is_not_added: Whole, "echo evil > .git/hooks/pre-push", Changes, ["Read-only", "denied"];
    the_configuration_is_not_written: Whole,
        "git config core.fsmonitor ./evil || echo x >> .git/config", Changes,
        ["Read-only", "denied"];
    a_filter_is_not_set: Whole, "printf '[filter \"x\"]\\nclean = ./evil\\n' >> .git/config",
        Changes, ["Read-only", "denied"];
    a_store_deep_inside_is_not_written: Whole, "echo evil > src/sub/deep/.git/config", Changes,
        ["Read-only", "denied"];
    a_store_below_a_scope_is_not_written: Src, "echo evil > src/sub/deep/.git/config", Changes,
        ["Read-only", "denied"];
    a_bare_store_is_not_written: Src, "echo evil > src/bare/config; mkdir src/bare/hooks", Changes,
        ["Read-only", "denied"];
    a_store_elsewhere_is_not_written: Src, "echo evil > src/away/config", Changes,
        ["Read-only", "denied"];
    the_file_that_leads_to_a_store_is_not_written: Src, "echo 'gitdir: /tmp' > src/tree/.git",
        Changes, ["Read-only", "denied"];
    the_file_that_leads_to_a_store_is_not_replaced: Src,
        "rm -f src/tree/.git; mkdir src/tree/.git; echo evil > src/tree/.git/config", Changes,
        ["busy", "denied", "exists"];
    // A mount point is neither renamed nor removed; nor is a folder on the way to one.
    a_store_is_not_moved_away_for_another: Whole,
        "mv .git .git-old; mkdir .git && echo evil > .git/config", Changes,
        ["busy", "denied", "exists"];
    a_store_is_not_removed: Whole, "rm -rf .git", Changes, ["busy", "denied", "Read-only"];
    a_folder_that_holds_a_store_is_not_moved_away: Src,
        "mv src/sub src/moved; echo evil > src/moved/deep/.git/config", Changes,
        ["busy", "denied", "nonexistent", "Read-only"];
    a_folder_right_above_a_store_is_not_moved_away: Src,
        "mv src/sub/deep src/deep; echo evil > src/deep/.git/config", Changes,
        ["busy", "denied", "nonexistent", "Read-only"];
    a_store_is_not_swapped: Src, "perl -e 'use constant N => `uname -m` =~ /aarch64/ ? 276 : 316; \
        my ($x, $g) = (\"src/work/y\", \"src/sub/deep/.git\"); mkdir $x; \
        syscall(N, -100, $x, -100, $g, 2) and die \"swap: $!\"'",
        Changes, ["busy", "denied", "cross-device"];
    a_hard_link_into_a_store_is_not_made: Whole,
        "ln .git/config src/c; echo evil > src/c", Changes,
        ["cross-device", "denied", "not permitted", "Read-only"];
    a_store_is_not_reached_through_a_symlink: Whole, "ln -s ../.git src/g; echo evil > src/g/config",
        Changes, ["Read-only", "denied"];
    a_store_is_not_reached_from_a_working_folder: Whole, "cd .git/hooks && echo evil > pre-push",
        Changes, ["Read-only", "denied"];
    a_store_named_in_the_environment_is_not_written: Whole,
        "GIT_DIR=$WS/.git git config core.pager evil; echo x > $WS/.git/x", Changes,
        ["Read-only", "denied"];
    a_store_is_not_written_by_a_background_process: Whole,
        "(setsid sh -c 'echo evil > .git/hooks/pre-push' 2>&1) & wait", Changes,
        ["Read-only", "denied"];
    the_mount_is_not_taken_off: Whole, "umount .git; umount -l .git; echo x > .git/x", Untried,
        ["Read-only", "denied"];
    nothing_is_mounted_over_a_store: Whole,
        "mount --bind src .git; mount -o remount,rw,bind .git; echo x > .git/x", Untried,
        ["Read-only", "denied"];
    attributes_of_a_store_are_kept: Whole,
        "setfattr -n user.x -v 1 .git/config || echo x > .git/x", Changes, ["Read-only", "denied"];
}

#[test]
fn with_git_store_the_shell_writes_stores_and_still_no_settings() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Whole).with("git/store");
    let run = world.held(Hold::Mounts, "echo x > .git/x && echo x > .killick/settings.json");
    assert!(run.err.contains("Read-only"), "{run:?}");
    assert!(world.path("ws/.git/x").exists());
}

#[test]
fn a_store_that_comes_while_a_command_runs_is_kept_from_the_next() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Whole);
    // What is not there yet has no mount: this is known, and `killick authority` says so.
    let made = world.held(Hold::Mounts, "mkdir -p new/.git && echo x > new/.git/config");
    assert_eq!(made.status, 0, "{made:?}");
    let run = world.held(Hold::Mounts, "echo y > new/.git/config");
    assert!(run.err.contains("Read-only"), "{run:?}");
}

#[test]
fn a_symlink_for_a_store_is_kept_with_what_it_leads_to() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Whole);
    std::fs::create_dir_all(world.path("ws/linked/real")).unwrap();
    std::os::unix::fs::symlink("real", world.path("ws/linked/.git")).unwrap();
    for hold in holds() {
        for command in
            ["echo x > linked/real/config", "rm linked/.git", "ln -sfn /tmp linked/.git"]
        {
            let run = world.held(hold, command);
            assert_ne!(run.status, 0, "{hold:?} {run:?}");
        }
    }
    assert_eq!(
        std::fs::read_link(world.path("ws/linked/.git")).unwrap().to_str(),
        Some("real")
    );
}

#[test]
fn a_folder_that_is_moved_about_meanwhile_takes_no_store_out_of_sight() {
    for hold in holds() {
        let world = World::new(Scope::Src);
        let before = world.picture();
        // One command moves what it can as fast as it can, while others look for a moment to write.
        let mover = world.start(
            hold,
            "perl -e 'my $end = time + 3; while (time < $end) { for (qw(sub sub/deep work tree bare away)) { \
             rename(\"src/$_\", \"src/moved\"); rename(\"src/moved\", \"src/$_\") } }'",
        );
        let writers: Vec<_> = (0..8)
            .map(|_| {
                world.start(
                    hold,
                    "for s in src/sub/deep/.git src/moved/.git src/moved/deep/.git src/bare src/away src/moved; do \
                     echo evil >> $s/config; done",
                )
            })
            .collect();
        for child in writers.into_iter().chain([mover]) {
            child.wait_with_output().unwrap();
        }
        let after = world.picture();
        for path in ["src/sub/deep/.git/config", "src/bare/config", "src/away/config"] {
            let path = world.path(&format!("ws/{path}"));
            assert_eq!(after.get(&path), before.get(&path), "{hold:?} {}", path.display());
        }
    }
}

#[test]
fn a_folder_that_cannot_be_read_stays_closed() {
    for hold in holds() {
        let world = World::new(Scope::Src);
        let closed = world.path("ws/src/closed");
        std::fs::create_dir_all(closed.join(".git")).unwrap();
        let mode =
            |bits| <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(bits);
        std::fs::set_permissions(&closed, mode(0o000)).unwrap();
        let run = world.held(
            hold,
            "chmod 700 src/closed; echo evil > src/closed/.git/config; ls -A src/closed/.git",
        );
        std::fs::set_permissions(&closed, mode(0o700)).unwrap();
        assert!(!closed.join(".git/config").exists(), "{hold:?} {run:?}");
    }
}
