//! Work that must go on inside: builds, tests and git, with what their caches need.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::world::{Run, Scope, World, holds, say};

fn is_there(program: &str) -> bool {
    let found =
        Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        say(&format!("no {program} here: skipped"));
    }
    found.status.success()
}

fn done(run: &Run) {
    assert_eq!(run.status, 0, "{run:?}");
}

#[test]
fn git_tells_the_state_of_a_repository() {
    if !is_there("git") {
        return;
    }
    for hold in holds() {
        let world = World::new(Scope::Whole);
        fs::remove_dir_all(world.path("ws/.git")).unwrap();
        done(&world.free(
            "git init -q -b main . && git add doc && \
             git -c user.name=a -c user.email=a@example.org commit -qm one && echo more >> doc/b.txt",
        ));
        let run =
            world.held(hold, "git status --short doc; git log --format=%s; git diff --stat");
        done(&run);
        assert!(run.out.contains(" M doc/b.txt") && run.out.contains("one"), "{run:?}");
        let run = world.held(hold, "git -c user.name=a -c user.email=a@b commit -qam two");
        assert_ne!(run.status, 0, "{run:?}");
    }
}

#[test]
fn cargo_tests_a_crate() {
    if !is_there("cargo") {
        return;
    }
    for hold in holds() {
        let world = World::new(Scope::Whole).readable_tools();
        fs::write(
            world.path("ws/Cargo.toml"),
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        )
        .unwrap();
        fs::write(
            world.path("ws/src/lib.rs"),
            "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n",
        )
        .unwrap();
        // Without mounts no new name comes at the top of a folder that holds a repository.
        fs::create_dir(world.path("ws/target")).unwrap();
        fs::write(
            world.path("ws/Cargo.lock"),
            "version = 4\n\n[[package]]\nname = \"tiny\"\nversion = \"0.1.0\"\n",
        )
        .unwrap();
        let homes = homes();
        let run = world.held(hold, &format!("{homes} cargo test --offline 2>&1"));
        done(&run);
        assert!(run.out.contains("1 passed"), "{run:?}");
    }
}

/// Returns where rustup and cargo live for whoever runs the tests.
fn homes() -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    let or = |name: &str, default: &str| {
        std::env::var(name).unwrap_or_else(|_| format!("{home}/{default}"))
    };
    format!(
        "RUSTUP_HOME={} CARGO_HOME={}",
        or("RUSTUP_HOME", ".rustup"),
        or("CARGO_HOME", ".cargo")
    )
}

#[test]
fn npm_tests_a_package() {
    if !is_there("npm") {
        return;
    }
    for hold in holds() {
        let world = World::new(Scope::Whole);
        let cache = world.path("npm");
        fs::create_dir(&cache).unwrap();
        let world = world.writable(cache.clone());
        fs::write(
            world.path("ws/package.json"),
            "{\"name\": \"tiny\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test src/\"}}",
        )
        .unwrap();
        fs::write(
            world.path("ws/src/a.test.js"),
            "require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2));",
        )
        .unwrap();
        let run =
            world.held(hold, &format!("npm_config_cache={} npm test 2>&1", shown(&cache)));
        done(&run);
        assert!(run.out.contains("pass 1"), "{run:?}");
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn only_the_user_switches_the_sandbox_off() {
    let world = World::new(Scope::Src);
    fs::remove_dir_all(world.path(".local")).unwrap();
    let config = world.path(".config/killick/settings.json");
    let project = world.path("ws/.killick/settings.json");
    let call = |words: &[&str]| {
        let mut killick = Command::new(env!("CARGO_BIN_EXE_killick"));
        killick.env_clear().env("HOME", world.path("")).env("PATH", "/usr/bin:/bin");
        let caps = ["--capabilities", "file/read,process/exec", "call", "bash"];
        killick.args(caps).args(words).current_dir(world.path("ws")).output().unwrap()
    };
    let command = "command=echo x > ../out/victim";
    fs::write(&project, "{\"sandbox\": \"off\"}").unwrap();
    assert_eq!(call(&[command]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(world.path("out/victim")).unwrap(), "untouched\n");
    fs::write(&project, "{}").unwrap();
    fs::write(&config, "{\"sandbox\": \"off\"}").unwrap();
    let off = call(&[command]);
    assert_eq!(off.status.code(), Some(0), "{off:?}");
    assert_eq!(fs::read_to_string(world.path("out/victim")).unwrap(), "x\n");
}

#[test]
fn the_users_settings_cannot_be_made_where_there_were_none() {
    if holds().is_empty() {
        return;
    }
    let world = World::new(Scope::Whole);
    fs::remove_dir_all(world.path(".config")).unwrap();
    let mut killick = Command::new(env!("CARGO_BIN_EXE_killick"));
    killick.env_clear().env("HOME", world.path("")).env("PATH", "/usr/bin:/bin");
    let output = killick
        .args(["-C", world.path("").to_str().unwrap()])
        .args(["--capabilities", "file/read,file/write,process/exec", "call", "bash"])
        .arg("command=mkdir -p .config/killick; echo '{\"sandbox\": \"off\"}' > .config/killick/settings.json")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!world.path(".config/killick/settings.json").exists());
}
