//! What the library says in neutral words, in the words of the command line.

use tilewright::{Error, ErrorKind};

/// Words of a library's hint, and the same with the option that they mean.
const OPTIONS: &[(&str, &str)] = &[
    ("`max_steps`", "--max-steps"),
    ("`max_time`", "--max-time"),
    ("`delimiter`", "--delimiter"),
    ("`skip_rows`", "--skip-rows"),
    ("give the threads of a block", "give the threads of a block with --block X[,Y[,Z]]"),
    ("name the kernel: ", "choose one with --entry: "),
    ("give the argument ", "give it with --arg NAME=VALUE: "),
];

/// What to do about an error, with the options of the command.
pub fn of(error: &Error) -> Option<String> {
    if let ErrorKind::Environment { name, .. } = error.kind() {
        return Some(format!("set {name} to that, or unset it"));
    }
    let hint = error.hint()?;
    let hint = OPTIONS.iter().fold(hint, |hint, (words, option)| hint.replace(words, option));
    Some(match error.kind() {
        ErrorKind::Unavailable { what: "the GPU with this number", .. } => {
            format!("{hint}; `tilewright doctor` lists them")
        }
        _ => hint,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_take_the_place_of_neutral_words() {
        let hint = |what, hint: &str| {
            of(&ErrorKind::Unavailable { what, why: String::new(), hint: hint.into() }.into()).unwrap()
        };
        assert_eq!(hint("x", "allow more: `max_steps`"), "allow more: --max-steps");
        assert_eq!(hint("the GPU with this number", "y"), "y; `tilewright doctor` lists them");
        assert_eq!(hint("x", "name the kernel: a, b"), "choose one with --entry: a, b");
    }
}
