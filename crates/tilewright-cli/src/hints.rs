//! What the library says in neutral words, in the words of the command line.

use crate::args;
use std::sync::OnceLock;
use tilewright::{Error, ErrorKind};

/// Words of a library's hint, and the same with the option that they mean.
const OPTIONS: &[(&str, &str)] = &[
    ("`max_steps`", "--max-steps"),
    ("`max_time`", "--max-time"),
    ("`delimiter`", "--delimiter"),
    ("`skip_rows`", "--skip-rows"),
    ("`decimal_comma`", "--decimal-comma"),
    ("`comments`", "--comments"),
    ("`columns`", "--columns"),
    ("`trim`", "--trim"),
    ("name the kernel: ", "choose one with --entry: "),
    ("give the argument ", "give it with --arg NAME=VALUE: "),
];

/// Words for what programs call, which no option is.
const FUNCTIONS: [&str; 1] = ["`NamedTable`"];

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
    if let ErrorKind::Environment { name, .. } = error.kind() {
        return Some(format!("set {name} to that, or unset it"));
    }
    let hint = with_options(&error.hint()?, COMMAND.get().map(String::as_str));
    Some(match error.kind() {
        ErrorKind::Unavailable { what: "the GPU with this number", .. } => {
            format!("{hint}; `tilewright doctor` lists them")
        }
        _ => hint,
    })
}

/// A hint in which options stand for neutral words. Parts about an option that the command lacks, or about functions, are left out.
fn with_options(hint: &str, command: Option<&str>) -> String {
    let name = |part: &str| {
        OPTIONS.iter().fold(part.to_owned(), |part, (words, option)| part.replace(words, option))
    };
    let is_there = |part: &&str| {
        let lacks = |(words, option): &(&str, &str)| part.contains(words) && !has_option(command, option);
        !FUNCTIONS.iter().any(|function| part.contains(function)) && !OPTIONS.iter().any(lacks)
    };
    hint.split("; ").filter(is_there).map(name).collect::<Vec<_>>().join("; ")
}

/// Whether the words for an option name one of the command; without a command all are there.
fn has_option(command: Option<&str>, words: &str) -> bool {
    let Some(command) = command else { return true };
    // A manifest has keys for the options of `explain`; `check` puts them in their place.
    let command = if command == "check" { "explain" } else { command };
    let long = words.split([' ', ':']).find_map(|word| word.strip_prefix("--"));
    let commands = args::command();
    let command = commands.get_subcommands().find(|known| known.get_name() == command);
    command.is_some_and(|command| command.get_arguments().any(|argument| argument.get_long() == long))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind as Kind;
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    #[test]
    fn options_take_the_place_of_neutral_words() {
        let hint = |what, hint: &str| {
            of(&ErrorKind::Unavailable { what, why: String::new(), hint: hint.into() }.into()).unwrap()
        };
        assert_eq!(hint("x", "allow more: `max_steps`"), "allow more: --max-steps");
        assert_eq!(hint("the GPU with this number", "y"), "y; `tilewright doctor` lists them");
        assert_eq!(hint("x", "name the kernel: a, b"), "choose one with --entry: a, b");
    }

    #[test]
    fn a_hint_names_options_of_its_command_alone() {
        let hint = "pass over it with `skip_rows` 1; `columns` says which; `NamedTable` reads names, too";
        let of = |command| with_options(hint, Some(command));
        assert_eq!(of("paths"), "pass over it with --skip-rows 1; --columns says which");
        assert_eq!((of("mul"), of("explain")), ("pass over it with --skip-rows 1".into(), String::new()));
        assert_eq!(with_options("name the kernel: a, b", Some("explain")), "choose one with --entry: a, b");
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
    fn options(text: &str) -> Vec<&str> {
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
                    for long in options(&rest).into_iter().filter(|long| !OTHERS.contains(long)) {
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
