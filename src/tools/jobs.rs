//! `jobs`, `job_output` and `job_kill`: the commands that run beside the calls of a session.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::console::{self, Said};
use super::kit::Kit;
use crate::authority::{Capability, Demand, Resource};
use crate::code::Code;
use crate::process::{Exit, Job, Phase};
use crate::text::{clip_line, count};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Spec, Tool};

/// The most characters of a command in the list.
const LINE_CHARS: usize = 120;

/// What one of the three does with what it was asked for.
type Act = fn(&Kit, u32, &Job) -> Outcome;

struct JobTool {
    kit: Arc<Kit>,
    spec: Spec,
    act: Act,
}

struct List {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes `job_output`.
pub(super) fn output(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    of_one(
        kit,
        "job_output",
        "What a job has written since it was last asked, and how far it is.",
        told,
    )
}

/// Makes `job_kill`.
pub(super) fn kill(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    of_one(kit, "job_kill", "End a job and every process that it started.", killed)
}

/// Makes `jobs`.
pub(super) fn list(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let spec = spec(
        "jobs",
        "List the jobs of this session: commands that run beside its calls.",
        Schema::new(),
    );
    Arc::new(List { kit: Arc::clone(kit), spec })
}

fn of_one(kit: &Arc<Kit>, name: &str, description: &str, act: Act) -> Arc<dyn Tool> {
    let schema = Schema::new().integer("job", "The job's number.");
    Arc::new(JobTool { kit: Arc::clone(kit), spec: spec(name, description, schema), act })
}

fn spec(name: &str, description: &str, schema: Schema) -> Spec {
    Spec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: schema.build(),
        toolset: "core",
        reach: Reach::Runs,
        paging: Paging::Clamp,
    }
}

fn demands() -> Vec<Demand> {
    vec![Demand { capability: Capability::ProcessExec, resource: Resource::Some }]
}

#[derive(Debug, Deserialize)]
struct Args {
    job: i64,
}

impl Tool for JobTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let (kit, act) = (Arc::clone(&self.kit), self.act);
        Ok(Prepared::new(demands(), move |_| {
            let number = u32::try_from(args.job).ok();
            let job = number.and_then(|number| Some((number, kit.jobs.get(number)?)));
            let (number, job) = job.ok_or_else(|| unknown(&kit, args.job))?;
            Ok(act(&kit, number, &job))
        }))
    }
}

fn unknown(kit: &Kit, asked: i64) -> Failure {
    let numbers: Vec<String> = kit.jobs.all().iter().map(|(n, _)| n.to_string()).collect();
    let there = if numbers.is_empty() {
        "this session has none; bash starts one with background".to_owned()
    } else {
        format!("the jobs are {}", numbers.join(", "))
    };
    Failure::new(Code::NoSuchJob, format!("there is no job {asked}; {there}."))
}

fn told(kit: &Kit, number: u32, job: &Job) -> Outcome {
    // Before the output is taken: what it says of the end is then never ahead of the output.
    let phase = job.phase_now();
    let (stdout, stderr) = job.take();
    let said = Said { stdout, stderr, output_chars: kit.output_chars };
    let text = said.text();
    let text = if text.is_empty() { "(no new output)".to_owned() } else { text };
    let outcome = said.described(Outcome::success(text), phase.exit());
    let outcome = outcome.note(format!("[job {number}: {}]", state(job, &phase)));
    let outcome = outcome.detail("job", number).detail("running", phase.is_live());
    console::with_enforced(outcome, job.enforced().as_ref())
}

fn killed(_: &Kit, number: u32, job: &Job) -> Outcome {
    let had_ended = !job.phase().is_live();
    job.end();
    let phase = job.phase();
    let text = match (had_ended, phase.is_live()) {
        (true, _) => format!("Job {number} had ended before: {}.", state(job, &phase)),
        (false, false) => format!("Job {number} was ended."),
        (false, true) => {
            format!("Job {number} was told to end; the system still keeps a process of it.")
        }
    };
    Outcome::success(text).detail("job", number).detail("running", phase.is_live())
}

impl Tool for List {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, _: Map<String, Value>) -> Result<Prepared, Failure> {
        let kit = Arc::clone(&self.kit);
        Ok(Prepared::new(demands(), move |_| {
            let all = kit.jobs.all();
            let rows: Vec<String> = all.iter().map(|(number, job)| row(*number, job)).collect();
            let text = if rows.is_empty() { "(no jobs)".to_owned() } else { rows.join("\n") };
            let details = all.iter().map(|(number, job)| {
                let phase = job.phase();
                json!({"job": number, "running": phase.is_live(), "command": job.line})
            });
            Ok(Outcome::success(text).detail("jobs", details.collect::<Vec<_>>()))
        }))
    }
}

fn row(number: u32, job: &Job) -> String {
    let age = job.started.elapsed().as_secs();
    let line = job.line.lines().next().unwrap_or_default();
    let line = clip_line(line, LINE_CHARS).shown;
    format!("{number}  {}  started {age} s ago  {line}", state(job, &job.phase_now()))
}

fn state(job: &Job, phase: &Phase) -> String {
    let timed_out = if job.is_timed_out() { "timed out, " } else { "" };
    let ended = |exit: &Exit| match exit {
        Exit::Code(code) => format!("{timed_out}exit {code}"),
        Exit::Signal(signal) => format!("{timed_out}signal {}", console::named(*signal)),
    };
    match phase {
        Phase::Starting | Phase::Running => "running".to_owned(),
        Phase::Left(exit, n_left) => {
            format!("{}, {} still running", ended(exit), count(*n_left, "process"))
        }
        Phase::Gone(Some(exit)) => ended(exit),
        Phase::Gone(None) => "ended".to_owned(),
        Phase::Refused(refused) => format!("not started: {}", refused.words),
    }
}
