//! The words of the command line, and of manifests, for the settings that hints of the library name.

use crate::args;
use std::sync::OnceLock;
use tilewright::{Error, Setting, Words};

/// The command that runs.
static COMMAND: OnceLock<String> = OnceLock::new();

/// Hints name options of this command alone.
pub fn choose_command(name: Option<&str>) {
    if let Some(name) = name {
        // It is chosen once.
        let _ = COMMAND.set(name.to_owned());
    }
}

/// What to do about an error, with the options of the command.
pub fn of(error: &Error) -> Option<String> {
    said(error, options)
}

/// What to do about an error, in these words.
pub fn said(error: &Error, words: Words) -> Option<String> {
    Some(error.kind().hint()?.said(words)).filter(|hint| !hint.is_empty())
}

/// Settings as options of the command that runs.
pub fn options(setting: Setting, value: &str) -> Option<String> {
    options_of(COMMAND.get().map(String::as_str), setting, value)
}

fn options_of(command: Option<&str>, setting: Setting, value: &str) -> Option<String> {
    let option = match setting {
        Setting::MaxSteps => "--max-steps",
        Setting::MaxTime => "--max-time",
        Setting::Delimiter => "--delimiter",
        Setting::SkipRows => "--skip-rows",
        Setting::DecimalComma => "--decimal-comma",
        Setting::Comments => "--comments",
        Setting::Columns => "--columns",
        Setting::Trim => "--trim",
        Setting::Entry => "--entry",
        Setting::Argument => "--arg",
        Setting::Launch => return Some(format!("to begin with: {value}")),
        Setting::Devices => return Some("`tilewright doctor`".into()),
        // A type of Rust.
        Setting::NamedTable => return None,
    };
    has_option(command, option).then(|| format!("{option} {value}").trim_end().to_owned())
}

/// Whether a command has an option; without a command all are there.
fn has_option(command: Option<&str>, option: &str) -> bool {
    let Some(command) = command else { return true };
    let long = option.strip_prefix("--");
    let commands = args::command();
    let command = commands.find_subcommand(command);
    command.is_some_and(|command| command.get_arguments().any(|argument| argument.get_long() == long))
}

/// Settings as keys of a manifest.
pub fn keys(setting: Setting, value: &str) -> Option<String> {
    Some(match setting {
        Setting::MaxSteps => "the key max-steps".into(),
        Setting::MaxTime => "the key max-time".into(),
        Setting::Entry => "the key entry".into(),
        Setting::Argument => format!("{value} in the table args"),
        Setting::Launch => format!(
            "give what is missing with the key block or in the table args; on the command line that is {value}"
        ),
        Setting::Devices => "`tilewright doctor`".into(),
        Setting::Delimiter
        | Setting::SkipRows
        | Setting::DecimalComma
        | Setting::Comments
        | Setting::Columns
        | Setting::Trim
        | Setting::NamedTable => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind as Kind;
    use std::{
        fs,
        path::{Path, PathBuf},
    };
    use tilewright::{ErrorKind, Hint};

    #[test]
    fn settings_are_options_or_keys() {
        let hint = Hint::from("choose one with ").set(Setting::Entry).say(": a, b");
        assert_eq!(hint.said(options), "choose one with --entry: a, b");
        assert_eq!(hint.said(keys), "choose one with the key entry: a, b");
        let size = Hint::from("give it with ").set_to(Setting::Argument, "M=64");
        assert_eq!(size.said(options), "give it with --arg M=64");
        assert_eq!(size.said(keys), "give it with M=64 in the table args");
        let kind = ErrorKind::Unavailable { what: "x", why: "y".into(), hint: Setting::NamedTable.into() };
        assert_eq!(of(&kind.into()), None);
    }

    #[test]
    fn a_hint_names_options_of_its_command_alone() {
        let hint = Hint::from("pass over it with ")
            .set_to(Setting::SkipRows, 1)
            .also(Hint::from(Setting::Columns).say(" says which"))
            .also(Hint::from(Setting::NamedTable).say(" reads names, too"));
        assert_eq!(
            hint.said(|setting, value| options_of(Some("paths"), setting, value)),
            "pass over it with --skip-rows 1; --columns says which"
        );
        assert_eq!(
            hint.said(|setting, value| options_of(Some("mul"), setting, value)),
            "pass over it with --skip-rows 1"
        );
        assert_eq!(hint.said(|setting, value| options_of(Some("explain"), setting, value)), "");
    }

    /// Texts in quotes of a file's code, without its tests.
    fn texts(code: &str) -> Vec<String> {
        let (mut texts, mut rest) = (Vec::new(), code.split("#[cfg(test)]").next().unwrap_or_default());
        while let Some(at) = rest.find(['"', '/', '\'']) {
            let behind = &rest[at + 1..];
            rest = match &rest[at..] {
                start if start.starts_with("//") => behind.split_once('\n').map_or("", |parts| parts.1),
                start if start.starts_with("'\"'") || start.starts_with("'\\\"'") => &rest[at + 3..],
                start if start.starts_with('"') => {
                    let mut is_escaped = false;
                    let end = behind.find(|c| {
                        let ends = c == '"' && !is_escaped;
                        is_escaped = c == '\\' && !is_escaped;
                        ends
                    });
                    let end = end.unwrap_or(behind.len());
                    texts.push(behind[..end].replace("\\\n", ""));
                    behind.get(end + 1..).unwrap_or_default()
                }
                _ => behind,
            };
        }
        texts
    }

    /// All `.rs` files below a directory, but tests.
    fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => sources(&path, found),
                Some(extension) if extension == "rs" && !path.ends_with("tests.rs") => found.push(path),
                _ => {}
            }
        }
    }

    /// Options in a text, without their dashes.
    fn dashed(text: &str) -> Vec<&str> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let starts =
            text.match_indices("--").map(|(at, _)| at).filter(|&at| !text[..at].ends_with(is_letter));
        let words = starts.map(|at| &text[at + 2..]);
        let ends = words.map(|word| &word[..word.find(|c| !is_letter(c)).unwrap_or(word.len())]);
        ends.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect()
    }

    /// Options of other programs, which are handed to them.
    const OTHERS: [&str; 3] = ["features", "path", "query-gpu"];

    #[test]
    fn whatever_is_named_exists() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let commands = args::command();
        let has = |command: &clap::Command, long: &str| {
            ["help", "version"].contains(&long)
                || command.get_arguments().any(|argument| argument.get_long() == Some(long))
        };
        let is_global =
            |long: &str| commands.get_arguments().any(|argument| argument.get_long() == Some(long));
        let (mut wrong, mut seen) = (Vec::new(), 0);
        for name in [
            "tilewright-cli",
            "tilewright",
            "tilewright-core",
            "tilewright-explain",
            "tilewright-files",
            "tilewright-paths",
            "tilewright-report",
        ] {
            let mut files = Vec::new();
            sources(&crates.join(name).join("src"), &mut files);
            for file in files {
                let inside = file.strip_prefix(crates.join(name).join("src")).unwrap();
                let folder =
                    inside.iter().next().and_then(|part| part.to_str()).filter(|_| name == "tilewright-cli");
                let own = commands.get_subcommands().find(|command| Some(command.get_name()) == folder);
                for text in texts(&fs::read_to_string(&file).unwrap()) {
                    // Whole commands first: they are parsed, and lack at most what is required.
                    let mut rest = String::new();
                    for (i, part) in text.split('`').enumerate() {
                        let Some(line) = part.strip_prefix("tilewright ").filter(|_| i % 2 == 1) else {
                            rest += part;
                            continue;
                        };
                        seen += 1;
                        let words = std::iter::once("tilewright").chain(line.split_whitespace());
                        if let Err(error) = args::command().try_get_matches_from(words)
                            && !matches!(
                                error.kind(),
                                Kind::MissingRequiredArgument
                                    | Kind::InvalidValue
                                    | Kind::DisplayHelp
                                    | Kind::DisplayHelpOnMissingArgumentOrSubcommand
                            )
                            && !line.contains(['{', '.'])
                        {
                            wrong.push(format!("{}: {line}", inside.display()));
                        }
                    }
                    for long in dashed(&rest).into_iter().filter(|long| !OTHERS.contains(long)) {
                        seen += 1;
                        // A manifest has keys for the options of `explain`.
                        let allowed = |command: &clap::Command| match own.map(clap::Command::get_name) {
                            Some("check") => ["check", "explain"].contains(&command.get_name()),
                            Some(own) => own == command.get_name(),
                            None => true,
                        };
                        let mut commands = commands.get_subcommands().filter(|&command| allowed(command));
                        let is_there = is_global(long) || commands.any(|command| has(command, long));
                        if !is_there {
                            wrong.push(format!("{}: --{long} in \"{text}\"", inside.display()));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty() && seen > 100, "{seen} seen\n{}", wrong.join("\n"));
    }
}
