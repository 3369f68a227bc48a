//! A TOML file whose faults name the line and the key.

use super::keys::{Key, Kind, MANIFEST, Table};
use std::fmt;
use strsim::levenshtein;
use tilewright_explain::FindingKind;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Something wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// The way from the root, such as `kernel[0].grid`; empty for what belongs to no key.
    pub key: String,
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.key.is_empty() { "" } else { ": " };
        write!(f, "{}: {}{colon}{}", self.line, self.key, self.problem)
    }
}

/// A place of the file: where it is, and its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    offset: usize,
    pub key: String,
}

/// A value of the file, and its place.
#[derive(Clone, Copy)]
pub struct Entry<'d> {
    pub value: &'d DeValue<'d>,
    offset: usize,
}

/// A table of the file, and its place.
#[derive(Clone)]
pub struct Section<'d> {
    table: &'d DeTable<'d>,
    pub place: Place,
}

/// Where faults are gathered.
pub struct Faults<'t> {
    text: &'t str,
    pub found: Vec<Fault>,
}

impl<'t> Faults<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, found: Vec::new() }
    }

    pub fn add(&mut self, place: &Place, problem: impl Into<String>) {
        let fault =
            Fault { line: line(self.text, place.offset), key: place.key.clone(), problem: problem.into() };
        if !self.found.contains(&fault) {
            self.found.push(fault);
        }
    }

    /// In the order of the file.
    pub fn into_sorted(mut self) -> Vec<Fault> {
        self.found.sort_by_key(|fault| fault.line);
        self.found
    }
}

fn line(text: &str, offset: usize) -> usize {
    1 + text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count()
}

/// The tables of a text; what TOML itself does not allow, and what no key of a manifest is, are faults.
pub fn parse<'t>(text: &'t str, faults: &mut Faults<'_>) -> Spanned<DeTable<'t>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let offset = error.span().map_or(0, |span| span.start);
        let key = key_of_line(text, offset);
        faults.add(&Place { offset, key }, error.message());
    }
    // Behind a fault of syntax what is missing may be there.
    if errors.is_empty() {
        check_table(root.get_ref(), &MANIFEST, &Place::default(), faults);
    }
    root
}

/// What stands before the equals sign of a line.
fn key_of_line(text: &str, offset: usize) -> String {
    let line = text.lines().nth(line(text, offset) - 1).unwrap_or_default();
    let key = line.split('=').next().unwrap_or_default().trim();
    let is_key = line.contains('=') && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.\"'".contains(c));
    if is_key { key.to_owned() } else { String::new() }
}

impl Place {
    pub fn at(&self, key: &str, offset: usize) -> Self {
        let dot = if self.key.is_empty() { "" } else { "." };
        Self { offset, key: format!("{}{dot}{key}", self.key) }
    }

    fn nth(&self, index: usize, offset: usize) -> Self {
        Self { offset, key: format!("{}[{index}]", self.key) }
    }
}

impl<'d> Section<'d> {
    pub fn root(root: &'d Spanned<DeTable<'d>>) -> Self {
        Self { table: root.get_ref(), place: Place::default() }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<(Entry<'d>, Place)> {
        let value = self.table.get(key)?;
        let offset = value.span().start;
        Some((Entry { value: value.get_ref(), offset }, self.place.at(key, offset)))
    }

    /// A table, or one without keys.
    pub fn section(&self, key: &str) -> Option<Self> {
        let (entry, place) = self.get(key)?;
        Some(Self { table: entry.value.as_table()?, place })
    }

    /// A list of tables.
    pub fn sections(&self, key: &str) -> Vec<Self> {
        let Some((entry, place)) = self.get(key) else { return Vec::new() };
        let items = entry.value.as_array().into_iter().flat_map(|array| array.iter());
        let section = |(index, item): (usize, &'d Spanned<DeValue<'d>>)| {
            Some(Self { table: item.get_ref().as_table()?, place: place.nth(index, item.span().start) })
        };
        items.enumerate().filter_map(section).collect()
    }

    /// All keys, in the order of the file.
    pub fn entries(&self) -> Vec<(String, Entry<'d>, Place)> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| {
                let (name, offset) = (key.get_ref().to_string(), key.span().start);
                let place = self.place.at(&name, offset);
                (name, Entry { value: value.get_ref(), offset: value.span().start }, place)
            })
            .collect();
        entries.sort_by_key(|(_, _, place)| place.offset);
        entries
    }

    pub fn text(&self, key: &str) -> Option<(String, Place)> {
        let (entry, place) = self.get(key)?;
        Some((entry.value.as_str()?.to_owned(), place))
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        number(self.get(key)?.0.value)
    }

    pub fn count(&self, key: &str) -> Option<u64> {
        whole(self.get(key)?.0.value).and_then(|n| u64::try_from(n).ok())
    }
}

impl<'d> Entry<'d> {
    /// The value, or each of a list.
    pub fn each(&self, place: &Place) -> Vec<(Entry<'d>, Place)> {
        match self.value.as_array() {
            Some(array) => {
                let item = |(index, item): (usize, &'d Spanned<DeValue<'d>>)| {
                    let offset = item.span().start;
                    (Entry { value: item.get_ref(), offset }, place.nth(index, offset))
                };
                array.iter().enumerate().map(item).collect()
            }
            None => vec![(*self, Place { offset: self.offset, ..place.clone() })],
        }
    }

    /// A text as it is, and what a number or a boolean is written as.
    pub fn as_text(&self) -> String {
        match self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(_) => whole(self.value).map(|n| n.to_string()).unwrap_or_default(),
            DeValue::Float(float) => float.as_str().replace('_', ""),
            DeValue::Boolean(is_set) => is_set.to_string(),
            _ => String::new(),
        }
    }
}

/// A whole number.
pub fn whole(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => whole(value).map(|n| n as f64),
    }
}

fn check_table(table: &DeTable<'_>, known: &Table, place: &Place, faults: &mut Faults<'_>) {
    for (key, value) in table {
        let name = key.get_ref();
        let here = place.at(name, key.span().start);
        match known.keys.iter().find(|known| known.name == name) {
            Some(known) => check(value, known, &here, faults),
            None => {
                let names: Vec<&str> = known.keys.iter().map(|key| key.name).collect();
                faults.add(&here, format!("there is no such key; {}", suggestion(name, &names)));
            }
        }
    }
    for key in known.keys.iter().filter(|key| key.is_required) {
        if table.get(key.name).is_none() {
            faults.add(place, format!("the key {} is missing: {}", key.name, key.about));
        }
    }
}

/// The nearest of the names, or all of them.
pub fn suggestion(name: &str, names: &[&str]) -> String {
    match nearest(name, names) {
        Some(known) => format!("{known} is meant, perhaps"),
        None => format!("there are {}", names.join(", ")),
    }
}

/// The name that was meant, perhaps.
fn nearest<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    // Long names are no slips of the pen.
    let name = if name.len() > 64 { "" } else { name };
    let (distance, known) = names.iter().map(|known| (levenshtein(name, known), *known)).min()?;
    (distance <= 1 + name.len() / 4).then_some(known)
}

/// The names of all kinds of findings.
pub fn finding_kinds() -> Vec<&'static str> {
    FindingKind::ALL.iter().map(|kind| kind.name()).collect()
}

fn no_finding(name: &str) -> String {
    let known = finding_kinds();
    let meant = nearest(name, &known).map_or(String::new(), |known| format!("; {known} is meant, perhaps"));
    format!("'{name}' is no kind of finding{meant}; there are {}", known.join(", "))
}

fn check(value: &Spanned<DeValue<'_>>, key: &Key, place: &Place, faults: &mut Faults<'_>) {
    let inner = value.get_ref();
    let mut wrong = |expected: &str| {
        faults.add(place, format!("{expected} is expected, not {}", article(inner.type_str())));
    };
    match &key.kind {
        Kind::Text if !is_text(inner) => wrong("a text that is not empty"),
        Kind::Texts | Kind::Budgets if !is_text(inner) && !is_list(inner, is_text) => {
            wrong("a text, or a list of texts,")
        }
        Kind::Word(words) if !inner.as_str().is_some_and(|word| words.contains(&word)) => {
            wrong(&format!("one of {}", words.join(", ")));
        }
        Kind::Finding => match inner.as_str() {
            Some(name) if FindingKind::named(name).is_some() => {}
            Some(name) => faults.add(place, no_finding(name)),
            None => wrong("a kind of finding"),
        },
        Kind::Flag if !inner.is_bool() => wrong("true or false"),
        Kind::Count if whole(inner).is_none_or(|n| n < 1) => wrong("a whole number from 1"),
        Kind::Bytes if !is_text(inner) && whole(inner).is_none_or(|n| n < 0) => wrong("a number of bytes"),
        Kind::Number if number(inner).is_none_or(|n| !n.is_finite() || n < 0.0) => wrong("a number from 0"),
        Kind::Extent => {
            let is_list = is_list(inner, is_value) && inner.as_array().is_some_and(|list| list.len() <= 3);
            if !is_value(inner) && !is_list {
                wrong("a number or text, or one to three of them,");
            }
        }
        Kind::Values if !is_by_name(inner, |v| is_value(v) || v.is_float() || v.is_bool()) => {
            wrong("a table of texts, numbers and booleans");
        }
        Kind::TextsByName if !is_by_name(inner, is_text) => wrong("a table of texts"),
        Kind::Matrix if !is_by_name(inner, |list| is_list(list, is_value)) => {
            wrong("a table of lists of whole numbers and texts");
        }
        Kind::One(table) => match inner.as_table() {
            Some(inner) => check_table(inner, table, place, faults),
            None => wrong("a table"),
        },
        Kind::Many(table) => match inner.as_array().filter(|list| !list.is_empty()) {
            Some(list) => {
                for (index, item) in list.iter().enumerate() {
                    let place = place.nth(index, item.span().start);
                    match item.get_ref().as_table() {
                        Some(inner) => check_table(inner, table, &place, faults),
                        None => faults.add(&place, "a table is expected"),
                    }
                }
            }
            None => wrong("a list of tables, [[...]],"),
        },
        Kind::Named(table) => match inner.as_table() {
            Some(named) => {
                for (name, value) in named {
                    let place = place.at(name.get_ref(), name.span().start);
                    match value.get_ref().as_table() {
                        Some(inner) => check_table(inner, table, &place, faults),
                        None => faults.add(&place, "a table is expected"),
                    }
                }
            }
            None => wrong("a table of tables"),
        },
        _ => {}
    }
}

fn article(noun: &str) -> String {
    let an = if noun.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{an} {noun}")
}

fn is_text(value: &DeValue<'_>) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// A text or a whole number.
fn is_value(value: &DeValue<'_>) -> bool {
    is_text(value) || whole(value).is_some()
}

fn is_list(value: &DeValue<'_>, of: fn(&DeValue<'_>) -> bool) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(|item| of(item.get_ref())))
}

fn is_by_name(value: &DeValue<'_>, of: impl Fn(&DeValue<'_>) -> bool) -> bool {
    value.as_table().is_some_and(|table| table.iter().all(|(_, value)| of(value.get_ref())))
}
