//! The closed list of error codes, each with what it means.
//!
//! Every refusal that a tool returns opens with one of these. Tests, documentation and `killick errors`
//! derive from [`Code::ALL`]. A code is a contract: programs branch on it, never on a message's words.
//! This module holds no messages; the module that refuses writes those.

use std::fmt;

macro_rules! codes {
    ($($variant:ident $name:literal $meaning:literal;)*) => {
        /// A kind of refusal, stable across versions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $meaning] $variant,)* }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the code as it is written, in snake case.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns one sentence that says what the code means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    UnknownTool "unknown_tool" "No tool of that name is registered in this session.";
    DuplicateTool "duplicate_tool" "Two tools of one name were registered; killick does not start.";
    MissingArg "missing_arg" "A required argument is absent.";
    BadArg "bad_arg" "An argument has a wrong type or value, or is not one that the tool takes.";
    CapabilityDenied "capability_denied" "The session's grant does not cover what the call would touch.";
    ApprovalRequired "approval_required" "The settings want a person to confirm the call, and nobody can be asked; nothing ran.";
    Declined "declined" "A person was asked whether the call may run, and said no; nothing ran.";
    Timeout "timeout" "The call passed its deadline and was stopped.";
    Cancelled "cancelled" "The caller withdrew the call.";
    Internal "internal" "killick itself is at fault; the call was stopped and the session goes on.";
    PathEscape "path_escape" "The path leads out of the workspace and of every extra root.";
    ForbiddenPath "forbidden_path" "The path is one that no file tool writes (a repository's store, killick's settings) or none reads (killick's state).";
    NotFound "not_found" "Nothing exists at the path.";
    IsDirectory "is_directory" "The path is a folder and the tool works on a file.";
    NotText "not_text" "The file is not UTF-8 text, holds a NUL byte, or is no regular file.";
    TooLarge "too_large" "The file is over the size that the tool takes.";
    ReadOnly "read_only" "The file has no write bit, or its root or file system is read-only.";
    Io "io" "The operating system refused; its words are in the message.";
    OutOfRange "out_of_range" "A line number is past the end of the file.";
    BadPatch "bad_patch" "The patch is not in the hashline language, or names no edit.";
    Unread "unread" "The session has not read the file that it would edit.";
    StaleAnchor "stale_anchor" "A line that the edit relies on is not, or not provably, the one that was seen there.";
    Overlap "overlap" "Two edits of one call touch the same lines.";
    ClippedLine "clipped_line" "A line that would be replaced was only shown in part.";
    EchoedAnchor "echoed_anchor" "A payload row begins with an anchor that was served for this file.";
    OldStringNotFound "old_string_not_found" "The text to replace does not occur in the file.";
    OldStringNotUnique "old_string_not_unique" "The text to replace occurs more than once.";
    Unbalanced "unbalanced" "The edit would leave a Lisp file unbalanced and no repair is sure enough.";
    UnknownCandidate "unknown_candidate" "No repair candidate of that name is held by this session.";
    StaleCandidate "stale_candidate" "A file has changed since the repair candidate was shown.";
    AmbiguousForm "ambiguous_form" "The form occurs more than once.";
    NoSuchForm "no_such_form" "The form does not occur.";
    SandboxUnavailable "sandbox_unavailable" "The kernel cannot hold the shell of a restricted session to what the session may do, so nothing was run.";
    ExitStatus "exit_status" "The command ended with a status other than 0, or by a signal.";
    InteractiveProgram "interactive_program" "The command would start a program that waits for a person at a terminal.";
    NoSuchJob "no_such_job" "The session has no job of that number.";
    TooManyJobs "too_many_jobs" "The session runs as many jobs beside its calls as it may.";
    Conflict "conflict" "The file changed on disk while the call ran, or since the state that the call relies on.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_unique_and_has_a_sentence() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(
                code.as_str().chars().all(|c| c.is_ascii_lowercase() || c == '_'),
                "{code}"
            );
            assert!(code.meaning().ends_with('.'), "{code}");
        }
    }
}
