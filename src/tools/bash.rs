//! `bash`: runs a command line, returns when its shell has ended, and names what runs on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::console::{self, Said};
use super::kit::Kit;
use super::refuse;
use super::sandbox::{Unbounded, unavailable};
use crate::authority::{Capability, CommandLine, Demand, Resource, Shell, StartsIn};
use crate::code::Code;
use crate::process::{self, Cause, Job, Phase, Refused, Start, Waited};
use crate::text::{count, with_causes};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Problem, Reach, Running, Spec, Tool};
use crate::workspace::{Kind, NoFolder, PathError, Target};

/// The longest time-out, in seconds.
const MAX_TIMEOUT_S: u32 = 300;

/// The longest command line, in bytes: the system takes no longer argument.
const MAX_LINE_BYTES: usize = 131_071;

/// How much longer than its time-out a call may take, to end what it started.
const ENDING: Duration = Duration::from_secs(10);

struct Bash {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .text("command", "The command line, run by `sh -c`.")
        .optional_text("directory", "Folder to run it in. Default the workspace.")
        .optional_text("input", "Text for its standard input. Default empty.")
        .optional_text("shell", "Shell that is run with -c. Default sh.")
        .optional_integer(
            "timeout",
            "Seconds, at most 300. Default 30; none in the background.",
        )
        .optional_flag("background", "Return at once; job_output tells what it wrote.")
        .build();
    let spec = Spec {
        name: "bash".to_owned(),
        description: "Run a shell command without a terminal. Returns when the shell ends; what it leaves \
            running becomes a job. Output is standard output, then [stderr], then [exit N] if not 0."
            .to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Runs,
        paging: Paging::Clamp,
    };
    Arc::new(Bash { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    command: String,
    directory: Option<String>,
    #[serde(default)]
    input: String,
    shell: Option<String>,
    timeout: Option<i64>,
    #[serde(default)]
    background: bool,
}

/// A command that has been understood.
struct Order {
    start: Start,
    timeout_s: u32,
    background: bool,
}

impl Tool for Bash {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let kit = Arc::clone(&self.kit);
        let timeout_s = timeout(args.timeout, kit.shell.timeout_s)?;
        check_line(&args.command)?;
        if let Some(program) = process::interactive(&args.command, &kit.shell.interactive) {
            return Err(interactive(&program));
        }
        let (directory, starts_in) = directory(&kit, args.directory.as_deref())?;
        let program = args.shell.unwrap_or_else(|| kit.shell.program.clone());
        let line = CommandLine {
            shell: shell(&kit, &program),
            text: Arc::from(args.command.as_str()),
            starts_in,
        };
        let demand =
            Demand { capability: Capability::ProcessExec, resource: Resource::Command(line) };
        let start = Start {
            shell: program,
            line: args.command,
            directory,
            environment: kit.shell.environment.clone(),
            input: args.input.into_bytes(),
            confinement: None,
            // Without a word about it a job may run as long as the session.
            lifetime: args.timeout.filter(|_| args.background).map(seconds),
        };
        let order = Order { start, timeout_s, background: args.background };
        let budget = Duration::from_secs(timeout_s.into()) + ENDING;
        let prepared = Prepared::new(vec![demand], move |running| run(&kit, order, running));
        Ok(prepared.within(budget, ENDING))
    }
}

fn timeout(wanted: Option<i64>, default_s: u32) -> Result<u32, Failure> {
    let Some(wanted) = wanted else { return Ok(default_s) };
    if wanted < 1 {
        let message = format!(
            "`timeout` is a number of seconds from 1 to {MAX_TIMEOUT_S}, not {wanted}."
        );
        return Err(Failure::new(Code::BadArg, message));
    }
    Ok(u32::try_from(wanted).unwrap_or(MAX_TIMEOUT_S).min(MAX_TIMEOUT_S))
}

fn seconds(wanted: i64) -> Duration {
    Duration::from_secs(u64::try_from(wanted).unwrap_or_default())
}

fn check_line(line: &str) -> Result<(), Failure> {
    let bad = |message: String| Err(Failure::new(Code::BadArg, message));
    if line.trim().is_empty() {
        return bad("`command` is empty; say what to run.".to_owned());
    }
    if line.contains('\0') {
        return bad("`command` holds a NUL, which no program can be given.".to_owned());
    }
    if line.len() > MAX_LINE_BYTES {
        let n_bytes = line.len();
        return bad(format!(
            "`command` has {n_bytes} bytes and the system takes at most {MAX_LINE_BYTES}; give long text \
             as `input`, or write it to a file."
        ));
    }
    Ok(())
}

fn interactive(program: &str) -> Failure {
    Failure::new(
        Code::InteractiveProgram,
        format!(
            "`{program}` waits for a person at a terminal, and there is none. Use a program that ends by \
             itself; the user may allow this one in bash.interactive.allow."
        ),
    )
}

fn shell(kit: &Kit, program: &str) -> Shell {
    if program == kit.shell.program {
        Shell::configured(program)
    } else {
        Shell::Other(Arc::from(program))
    }
}

/// Returns the folder to start in: anywhere for an unrestricted session, else where it may read.
fn directory(kit: &Kit, wanted: Option<&str>) -> Result<(PathBuf, StartsIn), Failure> {
    let Some(wanted) = wanted else {
        return Ok((kit.workspace.main_folder().to_owned(), StartsIn::Workspace));
    };
    if !kit.grant.is_restricted() {
        return match kit.workspace.resolve(wanted) {
            Ok(target) => of_target(kit, &target),
            Err(PathError::Escape { .. }) => outside(kit, wanted),
            Err(error) => Err(refuse::path(error)),
        };
    }
    let target = kit.readable(wanted)?;
    if !kit.grant.reaches(&Capability::FileRead, &target.place) {
        return Err(refuse::denied(&Capability::FileRead, &target.place, &kit.grant));
    }
    of_target(kit, &target)
}

fn of_target(kit: &Kit, target: &Target) -> Result<(PathBuf, StartsIn), Failure> {
    let place = &target.place;
    match target.kind {
        Kind::Folder => {}
        Kind::Missing { .. } => return Err(refuse::not_found(place, &kit.near(target))),
        Kind::File(_) | Kind::Other => return Err(refuse::not_a_folder(place)),
    }
    let path = kit.workspace.folder_at(place);
    let is_top = place.root.is_workspace() && place.path.as_str().is_empty();
    let starts_in = if is_top { StartsIn::Workspace } else { elsewhere(&path) };
    Ok((path, starts_in))
}

fn outside(kit: &Kit, wanted: &str) -> Result<(PathBuf, StartsIn), Failure> {
    let folder = kit.workspace.folder_anywhere(wanted).map_err(|error| {
        let code = match error {
            NoFolder::Missing(_) => Code::NotFound,
            NoFolder::NotAFolder(_) => Code::BadArg,
            NoFolder::Io { .. } => Code::Io,
        };
        Failure::new(code, format!("{}; name a folder to run in.", with_causes(&error)))
    })?;
    let starts_in = elsewhere(&folder);
    Ok((folder, starts_in))
}

fn elsewhere(path: &Path) -> StartsIn {
    StartsIn::Elsewhere(Arc::from(path.to_string_lossy().as_ref()))
}

fn run(kit: &Kit, mut order: Order, running: &Running) -> Result<Outcome, Failure> {
    let bounds = kit.sandbox.confinement().map_err(|error| unbounded(&error))?;
    if let Some(bounds) = &bounds {
        order.start.environment.retain(|(name, _)| name != "TMPDIR");
        order.start.environment.push(("TMPDIR".into(), bounds.temp.clone().into()));
    }
    order.start.confinement = bounds;
    let program = order.start.shell.clone();
    let started = Instant::now();
    let job = kit.jobs.start(order.start).map_err(|error| {
        Failure::new(Code::Io, format!("no process can be started: {error}."))
    })?;
    if order.background {
        return background(kit, job, &program, running);
    }
    let until = started + Duration::from_secs(order.timeout_s.into());
    let waited = job.wait(until, &|| running.is_stopped());
    if waited != Waited::Ended {
        job.end();
    }
    let ended = Ended { waited, timeout_s: order.timeout_s, took: started.elapsed() };
    ended.outcome(kit, job, &program)
}

/// Keeps a command that runs beside the calls, once it has begun.
fn background(
    kit: &Kit,
    job: Job,
    program: &str,
    running: &Running,
) -> Result<Outcome, Failure> {
    match job.wait_for_start(Instant::now() + ENDING, &|| running.is_stopped()) {
        Waited::Ended => {}
        Waited::Stopped => {
            return Ok(given_up(&job, Code::Cancelled, "the caller withdrew the call."));
        }
        Waited::TimedOut => {
            return Ok(given_up(&job, Code::Timeout, "the command did not start in time."));
        }
    }
    if let Phase::Refused(refused) = job.phase() {
        return Err(not_started(&refused, program));
    }
    let enforced = job.enforced();
    let number = match kit.jobs.keep(job) {
        Ok(number) => number,
        Err(error) => {
            let problem =
                Failure::new(Code::TooManyJobs, format!("{error}; job_kill ends one."));
            return Ok(Outcome::refused(problem, "what had begun of it was ended"));
        }
    };
    let outcome = Outcome::success(format!("Started job {number}")).detail("job", number);
    Ok(console::with_enforced(outcome, enforced.as_ref()))
}

/// Ends a command of which it is not known whether it had begun.
fn given_up(job: &Job, code: Code, words: &str) -> Outcome {
    job.end();
    Outcome::refused(Failure::new(code, words), "what had begun of it was ended")
}

fn not_started(refused: &Refused, program: &str) -> Failure {
    let words = &refused.words;
    match refused.cause {
        Cause::Missing => Failure::new(
            Code::BadArg,
            format!(
                "the shell `{program}` cannot be started: {words}. Leave `shell` away for the usual one."
            ),
        ),
        Cause::Unconfined => unavailable(words),
        Cause::System => {
            Failure::new(Code::Io, format!("the shell `{program}` cannot be started: {words}."))
        }
    }
}

fn unbounded(error: &Unbounded) -> Failure {
    unavailable(&with_causes(error))
}

/// How a command in the foreground came to its end.
struct Ended {
    waited: Waited,
    timeout_s: u32,
    took: Duration,
}

impl Ended {
    fn outcome(&self, kit: &Kit, job: Job, program: &str) -> Result<Outcome, Failure> {
        let phase = job.phase();
        if let Phase::Refused(refused) = &phase {
            return Err(not_started(refused, program));
        }
        let (stdout, stderr) = job.take();
        let enforced = job.enforced();
        let said = Said { stdout, stderr, output_chars: kit.output_chars };
        let exit = phase.exit();
        let mut outcome = match self.problem() {
            Some(problem) => said.failed(problem, exit),
            None => said.ended(exit),
        };
        if self.waited == Waited::Ended
            && let Phase::Left(_, n_left) = job.phase_now()
        {
            outcome = left(kit, job, n_left, outcome);
        }
        let took_ms = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
        outcome =
            outcome.detail("timeout_seconds", self.timeout_s).detail("duration_ms", took_ms);
        Ok(console::with_enforced(outcome, enforced.as_ref()))
    }

    fn problem(&self) -> Option<Problem> {
        match self.waited {
            Waited::Ended => None,
            Waited::TimedOut => {
                // One phrase for every number: programs look for it.
                let words = format!("Command timed out after {} seconds.", self.timeout_s);
                Some(Problem::new(Code::Timeout, words))
            }
            Waited::Stopped => Some(Problem::new(
                Code::Cancelled,
                "the caller withdrew the call; the command was ended.",
            )),
        }
    }
}

/// Keeps what a command left running, and says so.
fn left(kit: &Kit, job: Job, n_left: usize, outcome: Outcome) -> Outcome {
    let still = format!("{} still running", count(n_left, "process"));
    match kit.jobs.keep(job) {
        Ok(number) => outcome.note(format!("[job {number}: {still}]")).detail("job", number),
        Err(error) => outcome.note(format!("[{still} were ended: {error}]")),
    }
}
