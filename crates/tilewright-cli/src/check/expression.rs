//! Texts with whole-number expressions in braces: `f32[{n * n}]:random`.
//!
//! An expression is one of `explain`'s sizes, with names of the matrix. A name alone may be a text.

use std::collections::BTreeMap;
use tilewright_explain::expression::{self, names};

/// What names stand for.
pub type Bindings = BTreeMap<String, String>;

/// The text with every expression in braces computed. Two braces are one.
///
/// # Errors
/// What is wrong, in words.
pub fn fill(text: &str, bindings: &Bindings) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix(brace) {
            out.push_str(brace);
            rest = behind;
        } else if brace == "}" {
            return Err("there is a } without a {".into());
        } else {
            let (inner, behind) = rest.split_once('}').ok_or("there is a { without a }")?;
            match bindings.get(inner.trim()) {
                Some(value) => out.push_str(value),
                None => out.push_str(&evaluate(inner, bindings)?.to_string()),
            }
            rest = behind;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The value of an expression.
///
/// # Errors
/// What is wrong, in words.
pub fn evaluate(text: &str, bindings: &Bindings) -> Result<i64, String> {
    let wrong = |why: String| format!("{{{text}}}: {why}");
    if let Some((name, value)) = names(text)
        .filter_map(|name| bindings.get_key_value(name))
        .find(|(_, value)| value.parse::<i128>().is_err())
    {
        return Err(wrong(format!("{name} is '{value}', which is no whole number")));
    }
    let known = |name: &str| bindings.get(name)?.parse().ok();
    let value = expression::evaluate(text, &known).map_err(|why| {
        let names = bindings.keys().cloned().collect::<Vec<_>>().join(", ");
        wrong(if names.is_empty() { why } else { format!("{why}; the matrix has {names}") })
    })?;
    i64::try_from(value).map_err(|_| wrong("the number is too large".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bindings() -> Bindings {
        [("n", "1000"), ("tile", "16"), ("type", "f32")].map(|(n, v)| (n.to_owned(), v.to_owned())).into()
    }

    #[test]
    fn expressions_are_computed() {
        let value = |text| evaluate(text, &bindings());
        assert_eq!(value("ceil_div(n, 256)"), Ok(4));
        assert_eq!(value("ceil_div(1024, 256) + ceil_div(-5, 2)"), Ok(4 - 2));
        assert_eq!(value("2 + 3 * (n - 1) % 7 - -1"), Ok(2 + 2997 % 7 + 1));
        assert_eq!(value("min(n, tile) * max(2,3)"), Ok(48));
        assert_eq!(
            fill("{type}[{n},{tile*2}]:random {{x}}", &bindings()).as_deref(),
            Ok("f32[1000,32]:random {x}")
        );
    }

    #[test]
    fn wrong_expressions_say_what_is_wrong() {
        for (text, why) in [
            ("{m}", "'m' is not known; the matrix has n, tile, type"),
            ("{n / (tile - 16)}", "division by zero"),
            ("{type + 1}", "no whole number"),
            ("{n", "without a }"),
            ("n}", "without a {"),
            ("{}", "missing"),
            ("{(n}", "')' is expected"),
            ("{n n}", "not expected"),
            ("{half(n, 2)}", "there is no function half"),
            ("{9223372036854775807 + 1}", "too large"),
            ("{99999999999999999999}", "too large"),
        ] {
            let error = fill(text, &bindings()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let deep = format!("{{{}1{}}}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(fill(&deep, &bindings()).unwrap_err().contains("too many brackets"));
    }
}
