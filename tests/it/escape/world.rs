//! A workspace with repositories and settings, a home around it, and shells that are held or not.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use killick::process::confine::{self, Mounts};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a shell may write: all of the workspace but stores and settings, or `src` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Whole,
    Src,
}

/// What holds a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    Mounts,
    LandlockAlone,
}

/// A home that goes away.
pub(super) struct World {
    home: TempDir,
    scope: Scope,
    capabilities: Vec<&'static str>,
    writable: Vec<PathBuf>,
    readable: Vec<PathBuf>,
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) status: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Run {
    /// Returns what the command wrote to either stream.
    pub(super) fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

/// Everything that must be as it was: kinds, modes, contents and times of change.
type Picture = BTreeMap<PathBuf, (u32, Vec<u8>, String)>;

impl World {
    pub(super) fn new(scope: Scope) -> Self {
        let home = tempfile::tempdir().unwrap();
        let world = Self {
            home,
            capabilities: match scope {
                Scope::Whole => vec!["file/read", "file/write", "file/edit", "process/exec"],
                Scope::Src => vec!["file/read(src/**)", "file/write(src/**)", "process/exec"],
            },
            scope,
            writable: Vec::new(),
            // The program under test lies in no folder of the system.
            readable: vec![
                PathBuf::from(env!("CARGO_BIN_EXE_killick")).canonicalize().unwrap(),
            ],
        };
        world.lay_out();
        world
    }

    /// Adds a capability.
    pub(super) fn with(mut self, capability: &'static str) -> Self {
        self.capabilities.push(capability);
        self
    }

    /// Adds what the user's settings let the shell write.
    pub(super) fn writable(mut self, path: PathBuf) -> Self {
        self.writable.push(path);
        self
    }

    /// Adds what `bash.readable` names by default, in the home of whoever runs the tests.
    pub(super) fn readable_tools(mut self) -> Self {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let readable = killick::settings::Settings::built_in().bash_readable.value;
        let paths = readable.iter().filter_map(|path| path.value.strip_prefix("~/"));
        self.readable.extend(paths.map(|path| home.join(path)));
        self
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(path)
    }

    fn lay_out(&self) {
        for (path, text) in [
            ("ws/src/a.txt", "alpha\n"),
            ("ws/src/work/x", ""),
            ("ws/doc/b.txt", "beta\n"),
            ("ws/doc/secret.txt", "the secret of the document\n"),
            ("ws/.git/HEAD", "ref: refs/heads/main\n"),
            ("ws/.git/config", "[core]\n\tbare = false\n"),
            ("ws/.git/hooks/post-commit", "#!/bin/sh\n"),
            ("ws/.git/objects/info/x", ""),
            ("ws/.git/refs/heads/x", ""),
            ("ws/.git/worktrees/tree/commondir", "../..\n"),
            ("ws/.git/worktrees/tree/HEAD", "ref: refs/heads/tree\n"),
            ("ws/src/sub/deep/.git/config", "[core]\n"),
            ("ws/src/sub/deep/code.txt", "gamma\n"),
            ("ws/src/bare/HEAD", "ref: refs/heads/main\n"),
            ("ws/src/bare/objects/x", ""),
            ("ws/src/bare/refs/x", ""),
            ("ws/src/bare/config", "[core]\n"),
            ("ws/src/away/config", "[core]\n"),
            ("ws/src/tree/.git", "gitdir: ../../.git/worktrees/tree\n"),
            ("ws/src/parted/.git", "gitdir: ../away\n"),
            ("ws/.killick/settings.json", "{}\n"),
            ("ws/.killick/settings.local.json", "{\"ask\": [\"net/fetch\"]}\n"),
            ("ws/.killick/init.lisp", "nil\n"),
            ("out/victim", "untouched\n"),
            ("out/secret", "the secret outside\n"),
            (".bashrc", "# home\n"),
            (".config/killick/settings.json", "{}\n"),
            (".local/state/killick/trust.json", "{}\n"),
            (".ssh/id_ed25519", "the secret key\n"),
        ] {
            let path = self.home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        symlink("../../out/victim", self.home.path().join("ws/src/link")).unwrap();
        let closed = fs::Permissions::from_mode(0o700);
        fs::set_permissions(self.home.path().join(".local/state/killick"), closed).unwrap();
    }

    /// Returns the picture of all that the shell may not change.
    pub(super) fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        for top in
            ["ws/.git", "ws/.killick", "ws/src/sub/deep/.git", "ws/src/bare", "ws/src/away"]
        {
            take(&self.path(top), &mut picture);
        }
        for file in ["ws/src/tree/.git", "ws/src/parted/.git"] {
            take(&self.path(file), &mut picture);
        }
        // killick itself writes its state; a shell might, by these names.
        let state = [".local/state/killick/trust.json", ".local/state/killick/x"];
        for top in ["out", ".config", ".ssh", ".bashrc"].iter().chain(&state) {
            take(&self.path(top), &mut picture);
        }
        if self.scope == Scope::Src {
            take(&self.path("ws/doc"), &mut picture);
        }
        picture
    }

    /// Runs a command with all that the user may do.
    pub(super) fn free(&self, command: &str) -> Run {
        let mut shell = self.at_home(Command::new("sh"));
        let output = shell.args(["-c", command]).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Run {
            status: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Runs a command in the restricted session's shell.
    pub(super) fn held(&self, hold: Hold, command: &str) -> Run {
        let output = self.start(hold, command).wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let outcome: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {said}"));
        let details = &outcome["details"];
        let text = |key: &str| details[key].as_str().unwrap_or_default().to_owned();
        if let Some(code) = outcome["error"]["code"].as_str() {
            assert_eq!(code, "exit_status", "{outcome}");
        }
        let laid = &details["sandbox"]["mounts"];
        assert_eq!(laid == "laid", hold == Hold::Mounts, "{outcome}");
        Run {
            status: details["exit_code"]
                .as_i64()
                .map_or(-1, |code| i32::try_from(code).unwrap()),
            out: text("stdout"),
            err: text("stderr"),
        }
    }

    /// Starts a command in the restricted session's shell.
    pub(super) fn start(&self, hold: Hold, command: &str) -> Child {
        let settings = self.path("settings.json");
        let lists = json!({"bash": {"writable": self.writable, "readable": self.readable}});
        fs::write(&settings, lists.to_string()).unwrap();
        let killick = env!("CARGO_BIN_EXE_killick");
        let mut run = match hold {
            Hold::Mounts => self.at_home(Command::new(killick)),
            Hold::LandlockAlone if level() == Some(Hold::LandlockAlone) => {
                self.at_home(Command::new(killick))
            }
            Hold::LandlockAlone => {
                // In a user namespace of its own a process may say that there be no mount namespaces.
                let mut run = self.at_home(Command::new("unshare"));
                let none = "echo 0 > /proc/sys/user/max_mnt_namespaces; exec \"$@\"";
                run.args(["-r", "--", "sh", "-c", none, "sh", killick]);
                run
            }
        };
        run.arg("--settings").arg(&settings);
        run.args(["--capabilities", &self.capabilities.join(",")]);
        run.args(["--format", "json", "call", "bash", "-"]);
        run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = run.spawn().unwrap();
        let arguments = json!({"command": command, "timeout": 300}).to_string();
        child.stdin.take().unwrap().write_all(arguments.as_bytes()).unwrap();
        child
    }

    fn at_home(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path(""))
            .env("OUT", self.path("out"))
            .env("WS", self.path("ws"))
            .env("KILLICK", env!("CARGO_BIN_EXE_killick"))
            .current_dir(self.path("ws"));
        command
    }
}

fn take(path: &Path, picture: &mut Picture) {
    let Ok(stat) = fs::symlink_metadata(path) else { return };
    let kind = stat.file_type();
    let content = if kind.is_symlink() {
        fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec()
    } else if kind.is_file() {
        fs::read(path).unwrap()
    } else {
        Vec::new()
    };
    let attributes = format!("{}:{} {} {}", stat.uid(), stat.gid(), stat.mtime(), stat.ctime());
    picture.insert(path.to_owned(), (stat.mode(), content, attributes));
    if kind.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            take(&entry.unwrap().path(), picture);
        }
    }
}

/// What a way out looks like when it leads out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Free {
    /// Without a sandbox something outside is changed.
    Changes,
    /// Without a sandbox this can be read in what the command wrote.
    Says(&'static str),
    /// It is not gone without a sandbox: it would harm the machine, or needs what is not there.
    Untried,
}

/// One way out.
pub(super) struct Way {
    pub(super) scope: Scope,
    pub(super) command: &'static str,
    pub(super) free: Free,
    /// What the command says when it is denied: any of these, with mounts and without.
    pub(super) denied: &'static [&'static str],
}

impl Way {
    /// Goes the way, and checks that it leads nowhere.
    pub(super) fn leads_nowhere(&self) {
        if holds().is_empty() {
            return;
        }
        let world = World::new(self.scope);
        let before = world.picture();
        match self.free {
            Free::Changes => {
                let run = world.free(self.command);
                assert!(world.picture() != before, "the way leads nowhere even so: {run:?}");
            }
            Free::Says(words) => {
                let run = world.free(self.command);
                assert!(run.all().contains(words), "the way leads nowhere even so: {run:?}");
            }
            Free::Untried => {}
        }
        for hold in holds() {
            let world = World::new(self.scope);
            let before = world.picture();
            let run = world.held(hold, self.command);
            let after = world.picture();
            for (path, was) in &before {
                assert_eq!(after.get(path), Some(was), "{}: {hold:?} {run:?}", path.display());
            }
            assert_eq!(after.len(), before.len(), "{hold:?} {run:?}");
            let said = run.all();
            assert!(!said.contains("the secret"), "{hold:?} {run:?}");
            if let Free::Says(words) = self.free {
                assert!(!said.contains(words), "{hold:?} {run:?}");
            }
            let is_denied = self.denied.iter().any(|words| said.contains(words));
            assert!(is_denied, "{hold:?} does not say any of {:?}: {run:?}", self.denied);
        }
    }
}

/// Tells what is not tested here, past the capture of what tests print.
pub(super) fn say(words: &str) {
    let mut stderr = std::io::stderr();
    stderr.write_all(format!("escape: {words}\n").as_bytes()).unwrap();
}

/// Returns how a shell can be held here: with mounts, without them, or both in turn.
///
/// Where the kernel cannot hold one at all, checks that this is said and nothing is run.
pub(super) fn holds() -> Vec<Hold> {
    match level() {
        None => Vec::new(),
        Some(Hold::LandlockAlone) => {
            say("no mount namespace can be had here: gone without mounts only");
            vec![Hold::LandlockAlone]
        }
        Some(Hold::Mounts) => {
            let none = Command::new("unshare").args(["-r", "true"]).output();
            if none.is_ok_and(|output| output.status.success()) {
                return vec![Hold::Mounts, Hold::LandlockAlone];
            }
            say("no user namespace can be had here: gone with mounts only");
            vec![Hold::Mounts]
        }
    }
}

fn level() -> Option<Hold> {
    static LEVEL: OnceLock<Option<Hold>> = OnceLock::new();
    *LEVEL.get_or_init(|| match confine::ask(Path::new(env!("CARGO_BIN_EXE_killick"))) {
        Ok(held) => Some(match held.mounts {
            Mounts::Laid => Hold::Mounts,
            Mounts::Without { .. } => Hold::LandlockAlone,
        }),
        Err(error) => {
            let modules = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
            assert!(!modules.contains("landlock"), "there is Landlock, and yet: {error}");
            say(&format!("no sandbox here ({error}): it is checked that nothing runs instead"));
            let world = World::new(Scope::Src);
            let child = world.start(Hold::Mounts, "touch src/ran");
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("sandbox_unavailable"), "{said}");
            assert!(!world.path("ws/src/ran").exists());
            None
        }
    })
}

/// Makes a test of each way.
macro_rules! ways {
    ($($name:ident: $scope:ident, $command:expr, $free:expr, [$($denied:literal),+];)+) => {
        $(
            #[test]
            fn $name() {
                $crate::escape::world::Way {
                    scope: $crate::escape::world::Scope::$scope,
                    command: $command,
                    free: $free,
                    denied: &[$($denied),+],
                }
                .leads_nowhere();
            }
        )+
    };
}
pub(super) use ways;
