//! Whether a shell line would start a program that waits for a person at a terminal.
//!
//! Only the line's first effective word is judged: the first that names a program, behind assignments,
//! redirections, opening words of the grammar (`!`, `{`, `(`, `if` …) and programs that start another
//! one, with their options. What comes later is not looked at: neither `cd x && vim` nor
//! `sh -c vim` nor an alias is found. It saves a call that would hang; it is no boundary, and nothing is
//! run or expanded.
//!
//! Invariant: any text is read to an answer, in time linear in its length.

use crate::process::word::{Word, Words};

/// Programs that take over a terminal.
const PROGRAMS: &[&str] = &[
    "vi", "vim", "nvim", "nano", "emacs", "less", "more", "man", "top", "htop", "watch", "ssh",
    "mosh", "tmux", "screen",
];

/// Words of the grammar behind which a command begins.
const OPENING: &[&str] = &["!", "{", "if", "while", "until", "then", "do"];

/// What the settings change of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interactive {
    /// Programs that are interactive too, by their file names.
    pub add: Vec<String>,
    /// Programs that are not; this prevails.
    pub allow: Vec<String>,
}

impl Interactive {
    fn names(&self, program: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|name| name == program);
        (PROGRAMS.contains(&program) || is_in(&self.add)) && !is_in(&self.allow)
    }
}

/// Returns the name of the interactive program that a shell line would start first, if it is one.
///
/// A program counts by its file name, wherever it lies and whatever its arguments are, so that `top -b`
/// and `ssh host cmd` count too; the settings can allow them.
pub fn interactive(line: &str, words: &Interactive) -> Option<String> {
    let mut rest = Words::new(line);
    let mut program = command(&mut rest)?;
    loop {
        let name = program.file_name();
        if words.names(name) {
            return Some(name.to_owned());
        }
        let starter = STARTERS.iter().find(|starter| starter.name == name)?;
        program = starter.program(&mut rest)?;
    }
}

/// Returns the first word that names a program where a command may begin.
fn command(words: &mut Words<'_>) -> Option<Word> {
    loop {
        let word = words.next_in_line()?;
        let is_opening = OPENING.iter().any(|opening| word.is_plain(opening));
        if !is_opening && !word.is_assignment() {
            return Some(word);
        }
    }
}

/// A program that starts the one that it is given, and how its own arguments are told from that.
struct Starter {
    name: &'static str,
    /// Options whose value may be the next word; those of one character are short.
    valued: &'static [&'static str],
    /// Options with which no program is started.
    idle: &'static [&'static str],
    /// How many arguments stand before the program.
    n_operands: usize,
    begins: Begins,
}

/// What stands behind a starter's own arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// The program.
    Program,
    /// Assignments, then the program.
    Assignments,
    /// All that may stand where a command begins.
    Command,
}

const PLAIN: Starter =
    Starter { name: "", valued: &[], idle: &[], n_operands: 0, begins: Begins::Program };

/// The option of `env` whose value is more arguments, in both its forms.
const SPLIT: [&str; 2] = ["S", "split-string"];

const STARTERS: &[Starter] = &[
    Starter {
        name: "env",
        valued: &["u", "unset", "C", "chdir", "a", "argv0", "P", "S", "split-string"],
        idle: &["help", "version"],
        begins: Begins::Assignments,
        ..PLAIN
    },
    Starter { name: "command", idle: &["v", "V"], ..PLAIN },
    Starter { name: "builtin", ..PLAIN },
    Starter { name: "exec", valued: &["a"], ..PLAIN },
    Starter {
        name: "time",
        valued: &["f", "format", "o", "output"],
        idle: &["V", "help", "version"],
        begins: Begins::Command,
        ..PLAIN
    },
    Starter {
        name: "sudo",
        valued: &[
            "a",
            "auth-type",
            "C",
            "close-from",
            "c",
            "login-class",
            "D",
            "chdir",
            "g",
            "group",
            "h",
            "host",
            "p",
            "prompt",
            "R",
            "chroot",
            "r",
            "role",
            "T",
            "command-timeout",
            "t",
            "type",
            "U",
            "other-user",
            "u",
            "user",
        ],
        idle: &[
            "e",
            "edit",
            "K",
            "remove-timestamp",
            "l",
            "list",
            "V",
            "version",
            "v",
            "validate",
            "help",
        ],
        begins: Begins::Assignments,
        ..PLAIN
    },
    Starter { name: "doas", valued: &["a", "u"], idle: &["C", "L"], ..PLAIN },
    Starter { name: "nice", valued: &["n", "adjustment"], idle: &["help", "version"], ..PLAIN },
    Starter { name: "nohup", idle: &["help", "version"], ..PLAIN },
    Starter {
        name: "timeout",
        valued: &["k", "kill-after", "s", "signal"],
        idle: &["help", "version"],
        n_operands: 1,
        ..PLAIN
    },
    Starter { name: "setsid", idle: &["h", "help", "V", "version"], ..PLAIN },
    Starter {
        name: "stdbuf",
        valued: &["i", "input", "o", "output", "e", "error"],
        idle: &["help", "version"],
        ..PLAIN
    },
    Starter {
        name: "ionice",
        valued: &["c", "class", "n", "classdata"],
        idle: &["p", "pid", "P", "pgid", "u", "uid", "h", "help", "V", "version"],
        ..PLAIN
    },
];

impl Starter {
    /// Returns the program that the starter would start with the words that follow it.
    fn program(&self, words: &mut Words<'_>) -> Option<Word> {
        let mut first = self.behind_options(words)?;
        for _ in 0..self.n_operands {
            first = words.next_in_command()?;
        }
        match self.begins {
            Begins::Program => {}
            Begins::Assignments => {
                while first.text().contains('=') {
                    first = words.next_in_command()?;
                }
            }
            Begins::Command => {
                words.put_back(first);
                first = command(words)?;
            }
        }
        Some(first)
    }

    /// Returns the first word behind the options.
    fn behind_options(&self, words: &mut Words<'_>) -> Option<Word> {
        loop {
            let word = words.next_in_command()?;
            match word.text() {
                "--" => return words.next_in_command(),
                "-" => {}
                text => match (text.strip_prefix("--"), text.strip_prefix('-')) {
                    (Some(long), _) => self.long(long, words)?,
                    (None, Some(letters)) => self.short(letters, words)?,
                    (None, None) => return Some(word),
                },
            }
        }
    }

    /// Reads a long option with its value; nothing when no program is started.
    fn long(&self, text: &str, words: &mut Words<'_>) -> Option<()> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        if self.idle.contains(&name) {
            return None;
        }
        if !self.valued.contains(&name) {
            return Some(());
        }
        let value = match value {
            Some(value) => value,
            None => words.next_in_command()?.into_text(),
        };
        valued(name, &value, words)
    }

    /// Reads short options behind one sign, with the value of the last; nothing when no program is started.
    fn short(&self, letters: &str, words: &mut Words<'_>) -> Option<()> {
        for (at, letter) in letters.char_indices() {
            let mut buffer = [0; 4];
            let name: &str = letter.encode_utf8(&mut buffer);
            if self.idle.contains(&name) {
                return None;
            }
            if self.valued.contains(&name) {
                let attached = letters.get(at + name.len()..).filter(|rest| !rest.is_empty());
                let value = match attached {
                    Some(value) => value.to_owned(),
                    None => words.next_in_command()?.into_text(),
                };
                return valued(name, &value, words);
            }
        }
        Some(())
    }
}

/// Takes an option's value, which is more words when the option says so.
fn valued(name: &str, value: &str, words: &mut Words<'_>) -> Option<()> {
    if SPLIT.contains(&name) { words.put_back_all(value) } else { Some(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn built_in(line: &str) -> Option<String> {
        interactive(line, &Interactive::default())
    }

    #[test]
    fn the_settings_add_and_allow_programs() {
        let words = Interactive {
            add: vec!["psql".to_owned(), "sudo".to_owned(), "vim".to_owned()],
            allow: vec!["ssh".to_owned(), "vim".to_owned()],
        };
        let seen = |line| interactive(line, &words);
        assert_eq!(seen("psql -c 'select 1'"), Some("psql".to_owned()));
        assert_eq!(seen("nice sudo true"), Some("sudo".to_owned()));
        assert_eq!(seen("ssh host true"), None);
        assert_eq!(seen("vim x"), None);
        assert_eq!(seen("env ssh host less x"), None);
        assert_eq!(seen("less x"), Some("less".to_owned()));
    }

    #[test]
    fn strings_within_strings_come_to_an_end() {
        assert_eq!(built_in("env -S-S-S-Svim"), Some("vim".to_owned()));
        assert_eq!(built_in(&format!("env {}vim", "-S".repeat(50_000))), None);
    }

    #[test]
    fn long_lines_and_deep_ones_are_read_to_their_end() {
        let starters = "nice ".repeat(50_000);
        assert_eq!(built_in(&format!("{starters}vim")), Some("vim".to_owned()));
        let assignments = "A=$(b \"$(c)\") ".repeat(20_000);
        assert_eq!(built_in(&format!("{assignments}vim")), Some("vim".to_owned()));
        assert_eq!(built_in(&"A=$(".repeat(50_000)), None);
        assert_eq!(built_in(&"(".repeat(50_000)), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(line in "\\PC{0,60}") {
            drop(built_in(&line));
        }

        #[test]
        fn no_almost_command_panics(pieces in prop::collection::vec(prop::sample::select(vec![
            "vim", "env", "sudo", "timeout", "time", "-S", "-u", "--user=", "--", "-", "A=", "'", "\"",
            "\\", "$(", ")", "${", "}", "`", "$", "<", ">>", "&", "|", ";", "(", "#", " ", "\n", "é", "1",
        ]), 0..30)) {
            if let Some(name) = built_in(&pieces.concat()) {
                prop_assert!(PROGRAMS.contains(&name.as_str()));
            }
        }

        #[test]
        fn a_program_is_found_behind_any_row_of_starters(
            starters in prop::collection::vec(prop::sample::select(vec![
                "env", "env -i", "env -u X B=2", "sudo -u me", "sudo --user me -p ''", "nice -n 5", "nice -5",
                "nohup", "timeout -k 5 10", "timeout 10", "setsid -w", "stdbuf -oL", "ionice -c3", "command",
                "command -p", "doas -u me", "env -S env", "time", "/usr/bin/time -f %e",
            ]), 0..6),
            program in prop::sample::select(PROGRAMS),
        ) {
            let starters = starters.join(" ");
            let found = built_in(&format!("{starters} {program}"));
            prop_assert_eq!(found, Some(program.to_owned()));
            prop_assert_eq!(built_in(&format!("{starters} cat {program}")), None);
        }
    }
}
