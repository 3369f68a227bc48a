//! What a user can do about an error: text and settings, which each front end calls by its own words.

use std::fmt;

/// Something that users set or call. A front end that lacks a word for one does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// Most steps of an emulated launch.
    MaxSteps,
    /// Most time of an emulated launch.
    MaxTime,
    /// What stands between the cells of a text file.
    Delimiter,
    /// Lines at the beginning of a text file to pass over.
    SkipRows,
    /// Whether numbers of a text file have a comma in front of their fraction.
    DecimalComma,
    /// Which lines of a text file are comments.
    Comments,
    /// Which columns of a file are edges.
    Columns,
    /// Whether blanks around names are dropped.
    Trim,
    /// The reader of tables whose rows and columns have names.
    NamedTable,
    /// The kernel of a file.
    Entry,
    /// An argument of a kernel; its value is `NAME=VALUE`.
    Argument,
    /// Whatever a launch lacks; its value is a command line that gives all of it.
    Launch,
    /// The list of the GPUs that are here.
    Devices,
}

/// How a front end calls a setting with this value, which may be empty; `None` where it has no such setting.
pub type Words = fn(Setting, &str) -> Option<String>;

/// The words of Rust programs: names of fields and types.
fn in_rust(setting: Setting, value: &str) -> Option<String> {
    let name = match setting {
        Setting::MaxSteps => "max_steps",
        Setting::MaxTime => "max_time",
        Setting::Delimiter => "delimiter",
        Setting::SkipRows => "skip_rows",
        Setting::DecimalComma => "decimal_comma",
        Setting::Comments => "comments",
        Setting::Columns => "columns",
        Setting::Trim => "trim",
        Setting::NamedTable => "NamedTable",
        Setting::Entry => "entry",
        Setting::Argument => "arguments",
        Setting::Launch => return Some(format!("to begin with: {value}")),
        Setting::Devices => "DeviceInfo::all",
    };
    Some(if value.is_empty() { format!("`{name}`") } else { format!("`{name}` {value}") })
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Text(String),
    /// With its value, which may be empty.
    Setting(Setting, String),
}

/// What a user can do: parts, each of texts and settings.
///
/// A front end says the parts all of whose settings it has, in its own [`Words`]. `Display` says them in those of Rust programs.
///
/// ```
/// use tilewright_core::{Hint, Setting};
/// let hint = Hint::from("multiply smaller matrices").also(Hint::from("or allow more with ").set(Setting::MaxSteps));
/// assert_eq!(hint.to_string(), "multiply smaller matrices; or allow more with `max_steps`");
/// assert_eq!(hint.said(|_, _| Some("--max-steps".into())), "multiply smaller matrices; or allow more with --max-steps");
/// assert_eq!(hint.said(|_, _| None), "multiply smaller matrices");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint(Vec<Vec<Word>>);

impl Hint {
    /// Goes on with a text.
    pub fn say(self, text: impl Into<String>) -> Self {
        self.with(Word::Text(text.into()))
    }

    /// Goes on with a setting.
    pub fn set(self, setting: Setting) -> Self {
        self.set_to(setting, "")
    }

    /// Goes on with a setting and a value of it.
    pub fn set_to(self, setting: Setting, value: impl fmt::Display) -> Self {
        self.with(Word::Setting(setting, value.to_string()))
    }

    /// Begins a new part, which is said whether the others are or not.
    pub fn also(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text in the words of a front end; empty where it has no setting of any part.
    pub fn said(&self, words: Words) -> String {
        let word = |word: &Word| match word {
            Word::Text(text) => Some(text.clone()),
            Word::Setting(setting, value) => words(*setting, value),
        };
        let parts = self.0.iter().filter_map(|part| part.iter().map(word).collect::<Option<String>>());
        parts.collect::<Vec<_>>().join("; ")
    }

    fn with(mut self, word: Word) -> Self {
        match self.0.last_mut() {
            Some(part) => part.push(word),
            None => self.0.push(vec![word]),
        }
        self
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said(in_rust))
    }
}

impl From<String> for Hint {
    /// A hint of one part; an empty text is none.
    fn from(text: String) -> Self {
        if text.is_empty() { Self::default() } else { Self::default().say(text) }
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Setting> for Hint {
    fn from(setting: Setting) -> Self {
        Self::default().set(setting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_unknown_settings_are_left_out() {
        let hint = Hint::from("pass over it with ")
            .set_to(Setting::SkipRows, 1)
            .also(Hint::from(Setting::Columns).say(" says which"))
            .also(Hint::from(Setting::NamedTable).say(" reads names, too"));
        assert_eq!(
            hint.to_string(),
            "pass over it with `skip_rows` 1; `columns` says which; `NamedTable` reads names, too"
        );
        let words: Words = |setting, value| match setting {
            Setting::SkipRows => Some(format!("skip={value}")),
            Setting::NamedTable => Some("names".into()),
            _ => None,
        };
        assert_eq!(hint.said(words), "pass over it with skip=1; names reads names, too");
        assert_eq!(Hint::from(Setting::Columns).said(words), "");
        assert!(Hint::from("").is_empty() && Hint::default().to_string().is_empty());
    }
}
