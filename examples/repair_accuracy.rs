//! Measures repair on real source: faults of known answer are made in an edit, and the answers counted.
//!
//! `repair_accuracy [--faults N] [--seed N] [--show N] [--misses N] [--parinfer PACKAGE] FOLDER…`
//!
//! Every file below the folders is first put through the check, to find false alarms. Then, for each
//! dialect that occurs, a few forms of a file are taken, some of their lines are edited (a name changes
//! and the lines below keep their old alignment, or forms come in), and the delimiters of those lines
//! are damaged. Written and wrong is the figure that matters. What is shown is right if what was meant is
//! one of the candidates; how often it is the first is counted too. `--show` prints what was written
//! wrong, `--misses` so many of each kind where what was meant was not shown. With the folder of the npm
//! package `parinfer` and `node` on the path, parinfer's indent mode is asked the same questions.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::string_slice,
    clippy::cast_precision_loss,
    reason = "a measuring program that people run by hand on folders of source"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use killick::syntax::{
    Dialect, Hunk, Lexer, LineRange, NodeKind, Repair, Token, TokenKind, Tree, Verdict,
    balance, check, repair,
};

/// How many lines an edit has at most, and a sample of source.
const MOST_EDITED: usize = 10;
const MOST_LINES: usize = 150;

/// A linear generator with a mixed output, so that a run can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next()).unwrap() % n.max(1)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    ClosersDropped,
    InnerCloserDropped,
    CloserAdded,
    CloserMoved,
    WrongType,
    OpenerLost,
    QuoteLost,
    Two,
}

const FAULTS: [Fault; 10] = [
    Fault::ClosersDropped,
    Fault::ClosersDropped,
    Fault::ClosersDropped,
    Fault::InnerCloserDropped,
    Fault::CloserAdded,
    Fault::CloserMoved,
    Fault::WrongType,
    Fault::OpenerLost,
    Fault::QuoteLost,
    Fault::Two,
];

/// One question: the text before, what the edit should have made, what it made, and its lines.
struct Question {
    old: String,
    meant: String,
    made: String,
    hunk: Hunk,
    fault: Fault,
    name: String,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    asked: usize,
    written_right: usize,
    shown_right: usize,
    shown_among: usize,
    shown_wrong: usize,
    refused: usize,
    written_wrong: usize,
    parinfer_right: usize,
    candidates: usize,
}

impl Tally {
    fn right(&self) -> usize {
        self.written_right + self.shown_right + self.shown_among
    }
}

struct Options {
    faults: usize,
    seed: u64,
    show: usize,
    misses: usize,
    parinfer: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

fn options() -> Options {
    let mut options = Options {
        faults: 5000,
        seed: 1,
        show: 0,
        misses: 0,
        parinfer: None,
        folders: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word.as_str() {
            "--faults" => options.faults = value().parse().unwrap(),
            "--seed" => options.seed = value().parse().unwrap(),
            "--show" => options.show = value().parse().unwrap(),
            "--misses" => options.misses = value().parse().unwrap(),
            "--parinfer" => options.parinfer = Some(value().into()),
            _ => options.folders.push(word.into()),
        }
    }
    options
}

fn main() {
    let options = options();
    let mut sources: BTreeMap<&str, Vec<(PathBuf, String)>> = BTreeMap::new();
    for folder in &options.folders {
        gather(folder, &mut sources);
    }
    for (name, files) in &sources {
        let dialect = Dialect::named(name).unwrap();
        let whole = false_alarms(dialect, files);
        measure(dialect, &whole, &options);
    }
}

fn gather(path: &Path, sources: &mut BTreeMap<&str, Vec<(PathBuf, String)>>) {
    if path.is_dir() {
        let mut entries: Vec<_> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in &entries {
            gather(entry, sources);
        }
        return;
    }
    let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let (Some(dialect), Ok(text)) =
        (Dialect::for_extension(&extension), fs::read_to_string(path))
    else {
        return;
    };
    sources.entry(dialect.name).or_default().push((path.to_owned(), text));
}

/// Prints what the check finds in published files, and returns those that are whole.
fn false_alarms<'a>(
    dialect: &'static Dialect,
    files: &'a [(PathBuf, String)],
) -> Vec<&'a (PathBuf, String)> {
    let (mut n_bytes, mut took) = (0, Duration::ZERO);
    let mut whole = Vec::new();
    for file in files {
        let started = Instant::now();
        let seen = balance(&file.1, dialect);
        took += started.elapsed();
        n_bytes += file.1.len();
        match seen.first() {
            None => whole.push(file),
            Some(fault) => println!("  {}: {fault}", file.0.display()),
        }
    }
    let micros = took.as_micros().max(1);
    println!(
        "{}: {} files, {} not whole, {} kB, {} MB/s",
        dialect.title,
        files.len(),
        files.len() - whole.len(),
        n_bytes / 1000,
        n_bytes as u128 / micros
    );
    whole
}

fn measure(dialect: &'static Dialect, files: &[&(PathBuf, String)], options: &Options) {
    let mut random = Random(options.seed);
    let mut questions = Vec::new();
    for _ in 0..options.faults * 60 {
        if questions.len() == options.faults {
            break;
        }
        let Some(file) = random.pick(files) else { break };
        questions.extend(question(dialect, file, &mut random));
    }
    let parinfer = options.parinfer.as_deref().map(|package| ask_parinfer(package, &questions));
    let mut tallies: BTreeMap<Option<Fault>, Tally> = BTreeMap::new();
    let (mut took, mut longest, mut shown) = (Duration::ZERO, Duration::ZERO, 0);
    for (nth, question) in questions.iter().enumerate() {
        let started = Instant::now();
        let answer = answer(dialect, question);
        let elapsed = started.elapsed();
        (took, longest) = (took + elapsed, longest.max(elapsed));
        if answer.written_wrong > 0 && shown < options.show {
            shown += 1;
            show(dialect, question);
        }
        let missed = tallies.get(&Some(question.fault)).copied().unwrap_or_default();
        let n_missed = missed.asked - missed.right() - missed.written_wrong;
        if answer.right() + answer.written_wrong == 0 && n_missed < options.misses {
            show(dialect, question);
        }
        let right = parinfer.as_ref().is_some_and(|answers| {
            tokens(&answers[nth], dialect) == tokens(&question.meant, dialect)
        });
        for key in [None, Some(question.fault)] {
            let tally = tallies.entry(key).or_default();
            add(tally, answer);
            tally.parinfer_right += usize::from(right);
        }
    }
    println!(
        "  {:20} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>8} {:>6}",
        "",
        "asked",
        "written",
        "shown",
        "shown",
        "shown",
        "refused",
        "WRITTEN",
        "right",
        "at once",
        "parinfer",
        "shown"
    );
    println!(
        "  {:20} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>8} {:>6}",
        "", "", "right", "first", "below", "wrong", "", "WRONG", "", "", "", "each"
    );
    for (fault, tally) in &tallies {
        line(&fault.map_or("all".to_owned(), |fault| format!("{fault:?}")), tally);
    }
    let n = u32::try_from(questions.len()).unwrap().max(1);
    println!(
        "  {} us a check and repair, {} us the longest",
        (took / n).as_micros(),
        longest.as_micros()
    );
}

fn line(name: &str, tally: &Tally) {
    let share = |n: usize| 100.0 * n as f64 / tally.asked.max(1) as f64;
    let n_shown = tally.asked - tally.written_right - tally.written_wrong - tally.refused;
    println!(
        "  {name:20} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6.1}% {:>6.1}% {:>7.1}% {:>6.1}",
        tally.asked,
        tally.written_right,
        tally.shown_right,
        tally.shown_among,
        tally.shown_wrong,
        tally.refused,
        tally.written_wrong,
        share(tally.right()),
        share(tally.written_right + tally.shown_right),
        share(tally.parinfer_right),
        tally.candidates as f64 / n_shown.max(1) as f64,
    );
}

fn add(tally: &mut Tally, other: Tally) {
    tally.asked += 1;
    tally.written_right += other.written_right;
    tally.shown_right += other.shown_right;
    tally.shown_among += other.shown_among;
    tally.shown_wrong += other.shown_wrong;
    tally.refused += other.refused;
    tally.written_wrong += other.written_wrong;
    tally.candidates += other.candidates;
}

fn answer(dialect: &'static Dialect, question: &Question) -> Tally {
    let mut tally = Tally::default();
    let checked = check(Some(&question.old), &question.made, dialect);
    let hunks = [question.hunk];
    match repair(&checked, Some(&question.old), &question.made, dialect, &hunks) {
        Repair::Refused(..) => tally.refused = 1,
        Repair::Proposed(candidates) => {
            let meant = tokens(&question.meant, dialect);
            let right = |text: &str| tokens(text, dialect) == meant;
            let best = &candidates[0];
            tally.candidates = if best.is_safe() { 0 } else { candidates.len() };
            match (right(&best.text), best.is_safe()) {
                (true, true) => tally.written_right = 1,
                (true, false) => tally.shown_right = 1,
                (false, true) => tally.written_wrong = 1,
                (false, false) if candidates.iter().any(|c| right(&c.text)) => {
                    tally.shown_among = 1;
                }
                (false, false) => tally.shown_wrong = 1,
            }
        }
    }
    tally
}

fn show(dialect: &'static Dialect, question: &Question) {
    let checked = check(Some(&question.old), &question.made, dialect);
    let hunks = [question.hunk];
    println!("---- {} {:?} lines {:?}", question.name, question.fault, question.hunk.new);
    println!("-- old\n{}\n-- made\n{}", question.old, question.made);
    if let Repair::Proposed(candidates) =
        repair(&checked, Some(&question.old), &question.made, dialect, &hunks)
    {
        println!("-- meant\n{}", question.meant);
        for candidate in candidates {
            println!("-- got {:?} {:?}", candidate.doubts, candidate.edits);
        }
    }
}

/// The tokens that a reader sees.
fn tokens<'t>(text: &'t str, dialect: &'static Dialect) -> Vec<&'t str> {
    let tokens = Lexer::new(text, dialect).filter(|token| !token.kind.is_trivia());
    tokens.map(|token| token.span.of(text)).collect()
}

fn question(
    dialect: &'static Dialect,
    (path, text): &(PathBuf, String),
    random: &mut Random,
) -> Option<Question> {
    let sample = sample(text, dialect, random)?;
    let n_lines = sample.lines().count();
    let height = 1 + random.below(MOST_EDITED.min(n_lines));
    let start = random.below(n_lines + 1 - height);
    let window = start..start + height;
    let (old, meant, removed) = if random.below(2) == 0 {
        (sample.clone(), rename(&sample, dialect, window.clone(), random)?, 0)
    } else {
        let (old, removed) = without_a_form(&sample, dialect, window.clone(), random)?;
        (old, sample, removed)
    };
    let fault = *random.pick(&FAULTS)?;
    let made = damage(&meant, dialect, window.clone(), fault, random)?;
    if !balance(&old, dialect).is_whole() || !balance(&meant, dialect).is_whole() {
        return None;
    }
    let broken = check(Some(&old), &made, dialect).verdict == Verdict::Broken;
    broken.then(|| Question {
        old,
        meant,
        made,
        hunk: Hunk {
            old: LineRange::from_indices(window.start, window.end - removed),
            new: LineRange::from_indices(window.start, window.end),
        },
        fault,
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    })
}

/// Takes one to three forms that begin at column 0, with whole lines.
fn sample(text: &str, dialect: &'static Dialect, random: &mut Random) -> Option<String> {
    let tree = Tree::new(text, dialect);
    let at_margin = |at: usize| at == 0 || text.as_bytes()[at - 1] == b'\n';
    let spans: Vec<_> = tree
        .top()
        .map(|id| tree.node(id))
        .filter(|node| at_margin(node.span.start) && node.span.end - node.span.start > 20)
        .map(|node| node.span)
        .collect();
    let first = random.below(spans.len());
    let last = (first + random.below(3)).min(spans.len().checked_sub(1)?);
    let end = spans[last].end;
    let end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    let sample = &text[spans[first].start..end];
    let usable = sample.lines().count() <= MOST_LINES && sample.ends_with('\n');
    usable.then(|| sample.to_owned())
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count()
}

fn in_window(text: &str, token: &Token, window: &std::ops::Range<usize>) -> bool {
    window.contains(&line_of(text, token.span.start))
        && window.contains(&line_of(text, token.span.end))
}

fn rename(
    text: &str,
    dialect: &'static Dialect,
    window: std::ops::Range<usize>,
    random: &mut Random,
) -> Option<String> {
    let atoms: Vec<Token> = Lexer::new(text, dialect)
        .filter(|token| token.kind == TokenKind::Atom && in_window(text, token, &window))
        .filter(|token| token.span.of(text).chars().all(|c| c.is_alphanumeric() || c == '-'))
        .collect();
    let atom = random.pick(&atoms)?;
    let names = ["x", "tmp", "new-name", "other-value", "compute-the-result", "zz9"];
    let name = random.pick(&names)?;
    Some([&text[..atom.span.start], name, &text[atom.span.end..]].concat())
}

/// Takes a form out of the window, as the text before an edit that puts it in.
fn without_a_form(
    text: &str,
    dialect: &'static Dialect,
    window: std::ops::Range<usize>,
    random: &mut Random,
) -> Option<(String, usize)> {
    let tree = Tree::new(text, dialect);
    let lists: Vec<_> = tree
        .all()
        .map(|id| tree.node(id))
        .filter(|node| matches!(node.kind, NodeKind::List(_)) && node.parent.is_some())
        .filter(|node| {
            window.contains(&line_of(text, node.span.start))
                && window.contains(&line_of(text, node.span.end))
        })
        .collect();
    let span = random.pick(&lists)?.span;
    let removed = line_of(text, span.end) - line_of(text, span.start);
    let instead = ["x", "nil", "", "(old 1)"];
    let instead = random.pick(&instead)?;
    Some(([&text[..span.start], instead, &text[span.end..]].concat(), removed))
}

fn damage(
    text: &str,
    dialect: &'static Dialect,
    window: std::ops::Range<usize>,
    fault: Fault,
    random: &mut Random,
) -> Option<String> {
    let tokens: Vec<Token> = Lexer::new(text, dialect)
        .filter(|token| !token.kind.is_trivia() && in_window(text, token, &window))
        .collect();
    let closer = |token: &Token| matches!(token.kind, TokenKind::Close(_));
    let trailing = |at: usize| {
        let line = line_of(text, tokens[at].span.start);
        tokens[at..].iter().take_while(|t| line_of(text, t.span.start) == line).all(closer)
    };
    let pick = |random: &mut Random, wanted: &dyn Fn(usize) -> bool| {
        let places: Vec<usize> = (0..tokens.len()).filter(|&at| wanted(at)).collect();
        random.pick(&places).copied()
    };
    let cut = |at: usize| {
        let span = tokens[at].span;
        [&text[..span.start], &text[span.end..]].concat()
    };
    match fault {
        Fault::ClosersDropped => {
            let at = pick(random, &|at| closer(&tokens[at]) && trailing(at))?;
            let line = line_of(text, tokens[at].span.start);
            let run = tokens[at..].iter();
            let run = run.take_while(|t| line_of(text, t.span.start) == line).count();
            let n = 1 + random.below(run.min(3));
            let (start, end) = (tokens[at].span.start, tokens[at + n - 1].span.end);
            Some([&text[..start], &text[end..]].concat())
        }
        Fault::InnerCloserDropped => {
            Some(cut(pick(random, &|at| closer(&tokens[at]) && !trailing(at))?))
        }
        Fault::CloserAdded => {
            let at = pick(random, &|at| closer(&tokens[at]) && trailing(at))?;
            let span = tokens[at].span;
            Some([&text[..span.end], span.of(text), &text[span.end..]].concat())
        }
        Fault::CloserMoved => {
            let from = pick(random, &|at| closer(&tokens[at]))?;
            let to = pick(random, &|at| at != from && !closer(&tokens[at]))?;
            let (a, b) = (tokens[from].span, tokens[to].span);
            let mark = a.of(text);
            Some(if a.start < b.start {
                [&text[..a.start], &text[a.end..b.end], mark, &text[b.end..]].concat()
            } else {
                [&text[..b.end], mark, &text[b.end..a.start], &text[a.end..]].concat()
            })
        }
        Fault::WrongType => {
            let at = pick(random, &|at| closer(&tokens[at]))?;
            let span = tokens[at].span;
            let others: Vec<&str> = [")", "]", "}"]
                .into_iter()
                .filter(|&c| c != span.of(text) && Lexer::new(c, dialect).any(|t| closer(&t)))
                .collect();
            Some([&text[..span.start], random.pick(&others)?, &text[span.end..]].concat())
        }
        Fault::OpenerLost => {
            Some(cut(pick(random, &|at| matches!(tokens[at].kind, TokenKind::Open(_)))?))
        }
        Fault::QuoteLost => {
            let at = pick(random, &|at| tokens[at].kind == TokenKind::String)?;
            let span = tokens[at].span;
            Some(if random.below(2) == 0 {
                [&text[..span.end - 1], &text[span.end..]].concat()
            } else {
                let start = span.start + text[span.start..].find('"')?;
                [&text[..start], &text[start + 1..]].concat()
            })
        }
        Fault::Two => {
            let kinds = [
                Fault::ClosersDropped,
                Fault::InnerCloserDropped,
                Fault::CloserAdded,
                Fault::OpenerLost,
            ];
            let first = *random.pick(&kinds)?;
            let second = *random.pick(&kinds)?;
            let once = damage(text, dialect, window.clone(), first, random)?;
            damage(&once, dialect, window, second, random)
        }
    }
}

/// Asks parinfer's indent mode for every text; a text that it refuses comes back as it is.
fn ask_parinfer(package: &Path, questions: &[Question]) -> Vec<String> {
    let texts: Vec<&str> = questions.iter().map(|question| &*question.made).collect();
    let file = std::env::temp_dir().join(format!("parinfer-{}.json", std::process::id()));
    fs::write(&file, serde_json::to_vec(&texts).unwrap()).unwrap();
    let script = "const p = require(process.argv[1]);
        const texts = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
        process.stdout.write(JSON.stringify(texts.map(t => p.indentMode(t).text)));";
    let package = fs::canonicalize(package).unwrap();
    let output = Command::new("node")
        .args(["-e", script])
        .arg(package)
        .arg(&file)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    fs::remove_file(&file).unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}
