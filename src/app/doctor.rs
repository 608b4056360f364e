//! What killick needs of this machine: each check with what was found, and what to do where it is not enough.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};

use super::options::Options;
use super::start::Ground;
use crate::process::confine::{self, Enforced, Mounts, NoSandbox, PrivateTemp};
use crate::settings::Sandbox;
use crate::store::Store;
use crate::text::with_causes;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is well.
    Ok,
    /// killick works, with less than it could.
    Warn,
    /// Something does not work.
    Fail,
}

impl Verdict {
    /// Returns the verdict as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub next: Option<&'static str>,
}

impl Check {
    const fn ok(name: &'static str, found: String) -> Self {
        Self { name, verdict: Verdict::Ok, found, next: None }
    }

    const fn warn(name: &'static str, found: String, next: &'static str) -> Self {
        Self { name, verdict: Verdict::Warn, found, next: Some(next) }
    }

    const fn fail(name: &'static str, found: String, next: &'static str) -> Self {
        Self { name, verdict: Verdict::Fail, found, next: Some(next) }
    }
}

/// Looks at everything; `program` is killick itself, `path` where programs are looked for.
pub fn checks(options: &Options, program: &Path, path: &OsStr) -> Vec<Check> {
    let level = confine::ask(program);
    let mut checks = vec![kernel(), landlock(&level), mounts(&level), namespaces()];
    checks.extend(apparmor());
    checks.push(seccomp(&level));
    checks.push(program_on(path, "shell", "sh", "install a POSIX shell; commands cannot run"));
    checks.push(program_on(
        path,
        "git",
        "git",
        "install git, for commits and for what is ignored",
    ));
    checks.push(temp(options));
    checks.push(state(options));
    checks.push(settings(options));
    checks
}

fn kernel() -> Check {
    let name = rustix::system::uname();
    let found = format!(
        "{} {} on {}",
        name.sysname().to_string_lossy(),
        name.release().to_string_lossy(),
        name.machine().to_string_lossy()
    );
    if cfg!(target_os = "linux") {
        Check::ok("kernel", found)
    } else {
        Check::warn(
            "kernel",
            found,
            "restricted sessions run no commands here; use Linux for those",
        )
    }
}

fn landlock(level: &Result<Enforced, NoSandbox>) -> Check {
    match level {
        Err(why) => Check::fail(
            "landlock",
            why.to_string(),
            "use Linux 6.2 or newer with `landlock` in its `lsm=` list; restricted sessions run no commands until then",
        ),
        Ok(held) if held.gaps.contains(&confine::Gap::Signals) => Check::warn(
            "landlock",
            format!("version {}", held.landlock_abi),
            "Linux 6.12 or newer keeps a restricted shell from sending signals to other processes",
        ),
        Ok(held) => Check::ok("landlock", format!("version {}", held.landlock_abi)),
    }
}

fn mounts(level: &Result<Enforced, NoSandbox>) -> Check {
    match level.as_ref().map(|held| &held.mounts) {
        Ok(Mounts::Laid) => Check::ok("mount namespace", "can be had".to_owned()),
        Ok(Mounts::Without { why }) => Check::warn(
            "mount namespace",
            format!("cannot be had: {why}"),
            "a restricted shell makes no new names at the top of a folder that holds a repository; allow user \
             namespaces to change that",
        ),
        Err(_) => Check::warn("mount namespace", "not tried".to_owned(), "see landlock"),
    }
}

fn namespaces() -> Check {
    let most = number_in("/proc/sys/user/max_user_namespaces");
    let switched_off = number_in("/proc/sys/kernel/unprivileged_userns_clone") == Some(0);
    match (most, switched_off) {
        (Some(0), _) => Check::warn(
            "user namespaces",
            "user.max_user_namespaces is 0".to_owned(),
            "sysctl user.max_user_namespaces=10000",
        ),
        (_, true) => Check::warn(
            "user namespaces",
            "kernel.unprivileged_userns_clone is 0".to_owned(),
            "sysctl kernel.unprivileged_userns_clone=1",
        ),
        (None, false) => Check::warn(
            "user namespaces",
            "the kernel tells of none".to_owned(),
            "use a kernel with CONFIG_USER_NS",
        ),
        (Some(_), false) => Check::ok("user namespaces", "allowed".to_owned()),
    }
}

fn apparmor() -> Option<Check> {
    let restricts = number_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")?;
    Some(match restricts {
        0 => Check::ok("apparmor", "leaves user namespaces alone".to_owned()),
        _ => Check::warn(
            "apparmor",
            "user namespaces of programs without a profile can do nothing".to_owned(),
            "give killick a profile with `userns,`: docs/authority.md has one",
        ),
    })
}

fn seccomp(level: &Result<Enforced, NoSandbox>) -> Check {
    match level {
        Ok(_) => Check::ok("seccomp", "filters system calls".to_owned()),
        Err(_) => Check::warn("seccomp", "not tried".to_owned(), "see landlock"),
    }
}

fn program_on(path: &OsStr, name: &'static str, program: &str, next: &'static str) -> Check {
    let is_program = |file: &PathBuf| {
        file.is_file()
            && rustix::fs::accessat(CWD, file, Access::EXEC_OK, AtFlags::empty()).is_ok()
    };
    let found = std::env::split_paths(path).map(|folder| folder.join(program)).find(is_program);
    match found {
        Some(file) => Check::ok(name, file.display().to_string()),
        None => Check::fail(name, format!("no `{program}` in the PATH"), next),
    }
}

fn temp(options: &Options) -> Check {
    match PrivateTemp::make(&options.temp) {
        Ok(_) => Check::ok("temporary folder", options.temp.display().to_string()),
        Err(error) => Check::fail(
            "temporary folder",
            NoSandbox::from(&error).to_string(),
            "let TMPDIR name a folder that you may write",
        ),
    }
}

fn state(options: &Options) -> Check {
    let shown = options.state.display().to_string();
    if let Err(error) = Store::open(options.state.clone()) {
        return Check::fail(
            "state folder",
            with_causes(&error),
            "let it be a folder of your own, or remove it",
        );
    }
    match rustix::fs::stat(&options.state) {
        Err(_) => Check::ok("state folder", format!("{shown} (not made yet)")),
        Ok(stat) if Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO) => {
            Check::warn(
                "state folder",
                format!("others may enter {shown}"),
                "chmod 700 the folder",
            )
        }
        Ok(_) => Check::ok("state folder", shown),
    }
}

fn settings(options: &Options) -> Check {
    let ground = Ground::survey(options.clone())
        .and_then(|ground| ground.check_tools().map(|()| ground));
    match ground {
        Err(error) => Check::fail(
            "settings",
            with_causes(&error),
            "mend them; `killick settings check` shows them",
        ),
        Ok(ground) if ground.settings.sandbox.value == Sandbox::Off => Check::warn(
            "settings",
            format!("the sandbox is off ({})", ground.settings.sandbox.origin),
            "set \"sandbox\" to \"auto\", or know that a restricted session's commands may do what you may",
        ),
        Ok(ground) if !ground.settings.inert.is_empty() => Check::warn(
            "settings",
            format!("{} keys are inert", ground.settings.inert.len()),
            "read the project's settings, then `killick trust`",
        ),
        Ok(_) => Check::ok("settings", "valid".to_owned()),
    }
}

/// Returns the number that a small file of the kernel's holds.
fn number_in(path: &str) -> Option<u64> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = String::new();
    std::fs::File::from(file).take(64).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
