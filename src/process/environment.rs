//! What a child process gets of killick's own environment.
//!
//! Everything but three kinds: what looks secret by its name, so that a command cannot print it by
//! accident; what makes a shell run or change something before the command; and what would open an
//! editor, a pager or a prompt, which is answered instead. The settings prevail over all of it. Values
//! are not looked at: `DATABASE_URL` may hold a password and stays, because a project's builds and
//! tests need it. `GIT_ASKPASS` and `SSH_ASKPASS` stay, because they often answer without asking.
//! `NO_COLOR` is not set: a pipe is no terminal already, and it would change what a project's tests see.
//!
//! Pure: it reads no environment itself. It is no boundary, since a command may find secrets elsewhere.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// What the settings say about the environment of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Names that pass as they are, whatever they look like.
    pub pass: Vec<String>,
    /// Names and the values that they get. A name is not empty and holds neither `=` nor NUL.
    pub set: Vec<(String, String)>,
}

/// Words that make a name secret, in a row and wherever they stand in it.
const SECRET: &[&[&str]] = &[
    &["TOKEN"],
    &["SECRET"],
    &["SECRETS"],
    &["PASSWORD"],
    &["PASSWORDS"],
    &["PASSWD"],
    &["PASSPHRASE"],
    &["CREDENTIAL"],
    &["CREDENTIALS"],
    &["AUTHORIZATION"],
    &["AUTHTOKEN"],
    &["APIKEY"],
    &["APIKEYS"],
    &["API", "KEY"],
    &["API", "KEYS"],
    &["ACCESS", "KEY"],
    &["PRIVATE", "KEY"],
    &["CONNECTION", "STRING"],
    &["PGPASSWORD"],
    &["SSHPASS"],
];

/// Words that make a name secret at its end.
const SECRET_LAST: &[&str] = &["KEY", "PASS", "PAT", "AUTH"];

/// Words at the end of a name that only says where something is, how much of it or what kind.
const ABOUT: &[&str] = &[
    "FILE",
    "PATH",
    "DIR",
    "DIRECTORY",
    "SOCK",
    "URL",
    "URI",
    "HOST",
    "PORT",
    "ENDPOINT",
    "NAME",
    "TYPE",
    "SIZE",
    "LENGTH",
    "LIMIT",
    "TTL",
    "TIMEOUT",
    "HELPER",
    "PROVIDER",
    "PROVIDERS",
    "COMMAND",
];

/// Names at whose end a word of [`SECRET_LAST`] means nothing secret.
const PUBLIC: &[&[&str]] = &[&["PUBLIC", "KEY"], &["CACHE", "KEY"]];

/// Names that are secret although no word of theirs is.
const SECRET_NAMES: &[&str] = &["MYSQL_PWD", "DOCKER_AUTH_CONFIG", "ANTHROPIC_CUSTOM_HEADERS"];

/// What shells read, run or obey before the command that they are given.
const SHELL: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_XTRACEFD",
    "PS4",
    "CDPATH",
    "GLOBIGNORE",
];

/// The begin of the names in which bash keeps functions.
const FUNCTION: &str = "BASH_FUNC_";

/// What every command gets unless the settings say otherwise.
///
/// `GIT_EDITOR` takes the message that git prepared, so that `git rebase --continue` goes on, and a
/// commit without one is refused by git. An editor that does nothing would pass for done elsewhere, so
/// all others fail.
const NEUTRAL: &[(&str, &str)] = &[
    ("EDITOR", "false"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
    ("VISUAL", "false"),
];

/// Returns the environment of a command, sorted by name; of a name that stands twice the first holds.
pub fn environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    wanted: &Environment,
) -> Vec<(OsString, OsString)> {
    let mut child: BTreeMap<OsString, OsString> = BTreeMap::new();
    for (name, value) in own {
        if passes(&name, wanted) {
            child.entry(name).or_insert(value);
        }
    }
    for &(name, value) in NEUTRAL {
        if !(is_passed(OsStr::new(name), wanted) && child.contains_key(OsStr::new(name))) {
            child.insert(name.into(), value.into());
        }
    }
    let set = wanted.set.iter().map(|(name, value)| (name.into(), value.into()));
    child.extend(set);
    child.into_iter().collect()
}

fn passes(name: &OsStr, wanted: &Environment) -> bool {
    is_passed(name, wanted) || !(looks_secret(name) || is_for_shells(name))
}

fn is_passed(name: &OsStr, wanted: &Environment) -> bool {
    wanted.pass.iter().any(|passed| name == passed.as_str())
}

fn is_for_shells(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    SHELL.contains(&&*name) || name.starts_with(FUNCTION)
}

/// Returns whether a variable's name says that its value is secret.
///
/// A name is the words between its signs, whatever their case: `MY_API_KEY` is secret, `KEYBOARD` and
/// `MAX_TOKENS` are not. One that ends in a word such as `FILE` says where a secret is, and is none.
pub fn looks_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    let words: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let Some(last) = words.last() else { return false };
    if SECRET_NAMES.contains(&name.as_str()) {
        return true;
    }
    let holds = |row: &&[&str]| words.windows(row.len()).any(|window| window == *row);
    let is_public = PUBLIC.iter().any(|row| words.ends_with(row));
    let is_secret = SECRET.iter().any(holds) || SECRET_LAST.contains(last) && !is_public;
    is_secret && !ABOUT.contains(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn child(
        own: &[(&str, &str)],
        pass: &[&str],
        set: &[(&str, &str)],
    ) -> BTreeMap<String, String> {
        let own = own.iter().map(|&(name, value)| (name.into(), value.into()));
        let text = |text: &str| text.to_owned();
        let wanted = Environment {
            pass: pass.iter().copied().map(text).collect(),
            set: set.iter().map(|&(name, value)| (text(name), text(value))).collect(),
        };
        let child = environment(own, &wanted);
        let text = |text: OsString| text.into_string().unwrap();
        child.into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn names_of_secrets_look_secret() {
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_CUSTOM_HEADERS",
            "HTTP_AUTHORIZATION",
            "npm_config_//packages.example.org/:_authToken",
            "OPENAI_API_KEY",
            "OPENAI_API_KEY_2",
            "MY_APIKEY",
            "apikey",
            "GITHUB_TOKEN",
            "github_token",
            "TOKEN",
            "HF_TOKEN",
            "ANTHROPIC_AUTH_TOKEN",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "CLIENT_SECRET",
            "SECRET",
            "DJANGO_SECRET_KEY",
            "VAULT_SECRET_ID",
            "DB_PASSWORD",
            "PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "FTP_PASSWD",
            "SMTP_PASS",
            "GPG_PASSPHRASE",
            "SIGNING_PRIVATE_KEY",
            "SSH_PRIVATE_KEY_RSA",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "REGISTRY_CREDENTIAL",
            "LOCAL_KEY",
            "AZURE_OPENAI_KEY",
            "AZURE_STORAGE_CONNECTION_STRING",
            "GH_PAT",
            "REDISCLI_AUTH",
            "COMPOSER_AUTH",
            "npm_config_//packages.example.org/:_auth",
            "DOCKER_AUTH_CONFIG",
            "CARGO_REGISTRY_TOKEN",
        ] {
            assert!(looks_secret(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn other_names_do_not_look_secret() {
        for name in [
            "",
            "_",
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "USER",
            "LANG",
            "LC_ALL",
            "SHELL",
            "DISPLAY",
            "KEYBOARD",
            "XKB_KEYMAP",
            "GNOME_KEYRING_CONTROL",
            "LESSKEY",
            "SSH_AUTH_SOCK",
            "SSH_AGENT_PID",
            "GPG_AGENT_INFO",
            "SSH_ASKPASS",
            "GIT_ASKPASS",
            "SUDO_ASKPASS",
            "XAUTHORITY",
            "XDG_SESSION_ID",
            "XDG_RUNTIME_DIR",
            "DBUS_SESSION_BUS_ADDRESS",
            "DATABASE_URL",
            "HTTPS_PROXY",
            "KUBECONFIG",
            "NETRC",
            "PGPASSFILE",
            "MAX_TOKENS",
            "TOKENIZERS_PARALLELISM",
            "TOKEN_LIMIT",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
            "CREDENTIALS_DIRECTORY",
            "PASSWORD_STORE_DIR",
            "OAUTH_TOKEN_URL",
            "CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS",
            "GIT_CONFIG_KEY_0",
            "MINISIGN_PUBLIC_KEY",
            "SCCACHE_CACHE_KEY",
            "COMPASS",
            "MONKEY",
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "PATTERN",
            "PLAIN_SETTING",
        ] {
            assert!(!looks_secret(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn secrets_and_what_shells_obey_are_left_out() {
        let own = [
            ("MY_TOKEN", "t"),
            ("BASH_ENV", "/x"),
            ("ENV", "/x"),
            ("BASH_FUNC_ls%%", "() { :; }"),
            ("PROMPT_COMMAND", "x"),
            ("SHELLOPTS", "noexec"),
            ("PS4", "$(x)"),
            ("ENVIRONMENT", "test"),
        ];
        let seen = child(&own, &[], &[]);
        let neutral = NEUTRAL.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let wanted = neutral.chain([("ENVIRONMENT".to_owned(), "test".to_owned())]).collect();
        assert_eq!(seen, wanted);
    }

    #[test]
    fn editors_and_pagers_are_answered() {
        let seen = child(&[("EDITOR", "vim"), ("PAGER", "less"), ("TERM", "xterm")], &[], &[]);
        assert_eq!(
            ["EDITOR", "PAGER", "TERM"].map(|name| seen[name].as_str()),
            ["false", "cat", "dumb"]
        );
    }

    #[test]
    fn the_settings_pass_and_set_any_name() {
        let own = [("MY_TOKEN", "t"), ("ENV", "/x"), ("PAGER", "most"), ("A", "a"), ("B", "b")];
        let pass = ["MY_TOKEN", "ENV", "PAGER", "VISUAL", "ABSENT", "A"];
        let seen =
            child(&own, &pass, &[("A", "set"), ("GIT_EDITOR", "ed"), ("NEW_SECRET", "s")]);
        let names =
            ["MY_TOKEN", "ENV", "PAGER", "VISUAL", "A", "B", "GIT_EDITOR", "NEW_SECRET"];
        let values = names.map(|name| seen[name].as_str());
        assert_eq!(values, ["t", "/x", "most", "false", "set", "b", "ed", "s"]);
        assert!(!seen.contains_key("ABSENT"));
    }

    #[test]
    fn the_first_of_two_values_holds() {
        assert_eq!(child(&[("A", "1"), ("A", "2")], &[], &[])["A"], "1");
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_pass_as_they_are() {
        use std::os::unix::ffi::OsStringExt as _;
        let value = OsString::from_vec(b"\xff\xfe".to_vec());
        let secret = OsString::from_vec(b"\xff_TOKEN".to_vec());
        let own = [("A".into(), value.clone()), (secret.clone(), value.clone())];
        let seen = environment(own.into_iter(), &Environment::default());
        assert!(seen.contains(&("A".into(), value)));
        assert!(seen.iter().all(|(name, _)| *name != secret));
    }

    proptest! {
        #[test]
        fn a_name_passes_with_its_value_or_is_for_a_reason_withheld(
            own in prop::collection::btree_map("[A-Z_]{1,12}|[A-Z]{1,4}_(TOKEN|API_KEY|KEY_ID)", "\\PC{0,8}", 0..12),
            pass in prop::collection::vec("[A-Z]{1,4}_TOKEN", 0..3),
        ) {
            let wanted = Environment { pass, set: Vec::new() };
            let pairs = own.iter().map(|(name, value)| (name.into(), value.into()));
            let seen: BTreeMap<_, _> = environment(pairs, &wanted).into_iter().collect();
            for (name, value) in &own {
                let is_neutral = NEUTRAL.iter().any(|(neutral, _)| neutral == name);
                let is_withheld = looks_secret(OsStr::new(name)) || SHELL.contains(&name.as_str());
                let has_value = seen.get(OsStr::new(name)).is_some_and(|seen| seen == value.as_str());
                let is_passed = wanted.pass.contains(name);
                prop_assert_eq!(has_value, is_passed || !is_withheld && !is_neutral);
            }
            let is_known = |name: &OsString| {
                NEUTRAL.iter().any(|(neutral, _)| name == neutral) || own.keys().any(|own| name == own.as_str())
            };
            prop_assert!(seen.keys().all(is_known));
        }

        #[test]
        fn an_environment_that_was_made_stays_as_it_is(
            own in prop::collection::vec(("\\PC{1,8}", "\\PC{0,8}"), 0..12),
        ) {
            let pairs = own.into_iter().map(|(name, value)| (name.into(), value.into()));
            let once = environment(pairs, &Environment::default());
            let twice = environment(once.iter().cloned(), &Environment::default());
            prop_assert_eq!(once, twice);
        }
    }
}
