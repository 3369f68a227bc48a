//! What add and multiply mean: the name of a semiring, or its text.

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
    error::ErrorKind,
};
use std::{ffi::OsStr, sync::Arc};
use tilewright::{SemiringId, expressions::Expressions};

/// A semiring of the command line.
pub type Meaning = tilewright::semiring::Meaning<Arc<Expressions>>;

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
            return text.parse().map(|text| Meaning::Own(Arc::new(text))).map_err(wrong);
        }
        let name = names().parse_ref(command, arg, value)?;
        name.parse().map(Meaning::BuiltIn).map_err(wrong)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(SemiringId::ALL.iter().map(|id| PossibleValue::new(id.name()))))
    }
}
