//! A workspace with repositories and settings, a home around it, and shells that are held or not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use killick::authority::{Entry, Grant};
use killick::path::RootName;
use killick::process::confine::{self, Confinement};
use killick::tools::{Bounds, Extent, Sandbox};
use killick::workspace::{Access, Root, Workspace};
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
        for top in ["out", ".config", ".local", ".ssh", ".bashrc"] {
            take(&self.path(top), &mut picture);
        }
        if self.scope == Scope::Src {
            take(&self.path("ws/doc"), &mut picture);
        }
        picture
    }

    /// Runs a command with all that the user may do.
    pub(super) fn free(&self, command: &str) -> Run {
        self.run(&mut Self::shell(&[], command))
    }

    /// Runs a command in the restricted session's shell.
    pub(super) fn held(&self, hold: Hold, command: &str) -> Run {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("confinement.json");
        let sandbox = self.sandbox();
        let confinement = sandbox.confinement().unwrap().unwrap();
        fs::write(&file, serde_json::to_string(&confinement).unwrap()).unwrap();
        let mut words = vec![confined().into_os_string(), file.into_os_string()];
        if hold == Hold::LandlockAlone {
            // Inside a sandbox that lets everything be written there is no second mount namespace.
            let everything = Confinement {
                readable: vec!["/".into()],
                writable: vec!["/".into()],
                sealed: Vec::new(),
                hidden: Vec::new(),
                temp: "/nonexistent".into(),
                sockets: confine::Sockets::Internet,
            };
            let outer = temp.path().join("outer.json");
            fs::write(&outer, serde_json::to_string(&everything).unwrap()).unwrap();
            words.splice(0..0, [confined().into_os_string(), outer.into_os_string()]);
        }
        self.run(&mut Self::shell(&words, command))
    }

    fn shell(before: &[OsString], command: &str) -> Command {
        let mut words: Vec<OsString> = before.to_vec();
        words.extend(["sh", "-c", command].map(OsString::from));
        let mut shell = Command::new(&words[0]);
        shell.args(&words[1..]);
        shell
    }

    fn run(&self, shell: &mut Command) -> Run {
        let output = shell
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path(""))
            .env("OUT", self.path("out"))
            .env("WS", self.path("ws"))
            .env("KILLICK", env!("CARGO_BIN_EXE_killick"))
            .current_dir(self.path("ws"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Run {
            status: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    fn sandbox(&self) -> Sandbox {
        let entries: Vec<_> =
            self.capabilities.iter().map(|entry| Entry::parse(entry).unwrap()).collect();
        let main = Root::open(RootName::workspace(), &self.path("ws"), Access::Write).unwrap();
        let extent = Extent {
            writable: self.writable.clone(),
            readable: self.readable.clone(),
            sealed: vec![self.path(".config/killick")],
            state: vec![self.path(".local/state/killick")],
            temp: std::env::temp_dir(),
        };
        let bounds = Bounds::new(
            Grant::from_entries(&entries),
            Workspace::open(main, Vec::new()),
            extent,
        );
        Sandbox::On(Box::new(bounds))
    }
}

fn confined() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_killick")).with_file_name("examples").join("confined")
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
        if !sandbox_is_there() {
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
        for hold in [Hold::Mounts, Hold::LandlockAlone] {
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

/// Returns whether the kernel can hold a shell; where it cannot, checks that it is said so.
pub(super) fn sandbox_is_there() -> bool {
    match confine::ask(Path::new(env!("CARGO_BIN_EXE_killick"))) {
        Ok(_) => true,
        Err(error) => {
            let landlock = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
            assert!(!landlock.contains("landlock"), "there is Landlock, and yet: {error}");
            println!("no sandbox here ({error}): checked that nothing would be run instead");
            false
        }
    }
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
