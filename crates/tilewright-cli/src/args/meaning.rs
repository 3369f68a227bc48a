//! What add and multiply mean: the name of a semiring, or its text.

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
    error::ErrorKind,
};
use std::{ffi::OsStr, sync::Arc};
use tilewright::{SemiringId, expressions::Expressions};

/// A semiring of the command line.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// One that has a name.
    BuiltIn(SemiringId),
    /// One that is given by its text.
    Text(Arc<Expressions>),
}

impl Meaning {
    /// The built-in semiring; of a text plus-times, which has the same types of elements and results.
    pub fn id(&self) -> SemiringId {
        match self {
            Self::BuiltIn(id) => *id,
            Self::Text(_) => SemiringId::PlusTimes,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&Expressions> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Text(text) => Some(text),
        }
    }

    /// The name, or the text.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(id) => id.name(),
            Self::Text(text) => text.text(),
        }
    }
}

/// Parses either: a text has an equals sign.
#[derive(Clone, Copy)]
pub struct MeaningParser;

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SemiringId::ALL.iter().map(|id| id.name()))
}

impl TypedValueParser for MeaningParser {
    type Value = Meaning;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Meaning, Error> {
        let wrong = |error: tilewright::Error| {
            let hint = error.hint().map_or(String::new(), |hint| format!("\nhint: {hint}"));
            Error::raw(ErrorKind::ValueValidation, format!("{error}{hint}\n")).with_cmd(command)
        };
        if let Some(text) = value.to_str().filter(|text| text.contains('=')) {
            return text.parse().map(|text| Meaning::Text(Arc::new(text))).map_err(wrong);
        }
        let name = names().parse_ref(command, arg, value)?;
        name.parse().map(Meaning::BuiltIn).map_err(wrong)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(SemiringId::ALL.iter().map(|id| PossibleValue::new(id.name()))))
    }
}
