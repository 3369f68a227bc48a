//! The JSON Schema of a manifest, for editors.

use super::{
    document::finding_kinds,
    keys::{Key, Kind, MANIFEST, Table},
};
use crate::check::budget::{COUNTS, QUANTITIES};
use serde_json::{Map, Value, json};

/// The schema of the whole file.
pub fn schema() -> Value {
    let mut schema = table(&MANIFEST);
    if let Value::Object(object) = &mut schema {
        object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    }
    schema
}

fn table(table: &Table) -> Value {
    let property = |key: &Key| {
        let mut value = kind(&key.kind);
        if let Value::Object(object) = &mut value {
            object.insert("description".into(), json!(key.about));
        }
        (key.name.to_owned(), value)
    };
    let properties: Map<String, Value> = table.keys.iter().map(property).collect();
    let required: Vec<&str> = table.keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    json!({
        "title": table.name,
        "description": table.about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn one_or_more(text: Value) -> Value {
    let list = json!({ "type": "array", "items": text, "minItems": 1 });
    json!({ "anyOf": [text, list] })
}

/// `NAME <= NUMBER`, and what the names mean.
fn budget() -> Value {
    let quantities = QUANTITIES.iter().map(|quantity| (quantity.name, quantity.about));
    let all: Vec<(&str, &str)> = quantities.chain(COUNTS.iter().copied()).collect();
    let names = all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("|");
    let meanings = all.iter().map(|(name, about)| format!("{name}: {about}")).collect::<Vec<_>>().join("; ");
    json!({
        "type": "string",
        "pattern": format!(r"^\s*({names})\s*(<=|>=|==|<|>)\s*[-+0-9.eE]+\s*$"),
        "description": meanings,
    })
}

fn kind(kind: &Kind) -> Value {
    let text_or_whole = || json!({ "type": ["string", "integer"] });
    let by_name = |value: Value| json!({ "type": "object", "additionalProperties": value });
    match kind {
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::Texts => one_or_more(json!({ "type": "string", "minLength": 1 })),
        Kind::Budgets => one_or_more(budget()),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Finding => json!({ "enum": finding_kinds() }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Count => json!({ "type": "integer", "minimum": 1 }),
        Kind::Bytes => json!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "minLength": 1 },
        ] }),
        Kind::Number => json!({ "type": "number", "minimum": 0 }),
        Kind::Extent => json!({ "anyOf": [
            text_or_whole(),
            { "type": "array", "items": text_or_whole(), "minItems": 1, "maxItems": 3 },
        ] }),
        Kind::Values => by_name(json!({ "type": ["string", "number", "boolean"] })),
        Kind::TextsByName => by_name(json!({ "type": "string", "minLength": 1 })),
        Kind::Matrix => by_name(json!({ "type": "array", "items": text_or_whole(), "minItems": 1 })),
        Kind::One(inner) => table(inner),
        Kind::Many(inner) => json!({ "type": "array", "items": table(inner), "minItems": 1 }),
        Kind::Named(inner) => by_name(table(inner)),
    }
}
