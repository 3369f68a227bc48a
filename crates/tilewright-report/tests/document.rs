//! The JSON document: keys that scripts rely on.

use crate::support;
use serde_json::{Value, json};
use tilewright_report::{Document, html, text};

fn document() -> Value {
    serde_json::to_value(Document::new(&support::explanation(), None)).unwrap()
}

#[test]
fn the_keys_are_those_of_the_design() {
    let document = document();
    for key in ["schema", "kernel", "gpu", "grid", "block", "totals", "lines", "findings"] {
        assert!(document.get(key).is_some(), "{key}");
    }
    assert_eq!(document["schema"], 1);
    assert_eq!(document["grid"], json!([2, 2, 1]));
    let totals = &document["totals"];
    for key in [
        "warp_instructions",
        "global_load",
        "global_store",
        "shared_load",
        "shared_store",
        "barriers",
        "flops",
    ] {
        assert!(totals.get(key).is_some(), "{key}");
    }
    assert_eq!(totals["instruction_mix"]["fma.rn.f32"], 64 * 128);
    assert_eq!(totals["occupancy"]["limited_by"], json!(["warps", "registers"]));
    assert!(document.get("compared_with").is_none());
}

#[test]
fn quotients_follow_from_the_counts() {
    let totals = &document()["totals"];
    // A: 32 sectors, B: 1, for 128 bytes each.
    assert_eq!(totals["global_load"]["sectors_per_request"], 16.5);
    assert_eq!(totals["global_load"]["efficiency"], 256.0 / (33.0 * 32.0));
    assert_eq!(totals["global_store"]["efficiency"], 0.125);
    assert_eq!(totals["shared_load"]["conflicts"], 31 * 128);
    assert_eq!(totals["shared_load"]["ideal_wavefronts"], 128);
    // No request: no quotient.
    assert_eq!(totals["shared_store"]["requests"], 0);
    let intensity = &totals["arithmetic_intensity"];
    assert_eq!(intensity["flop_per_compulsory_byte"], 2.0 * 64.0 / 12.0);
}

#[test]
fn lines_sum_their_accesses() {
    let lines = &document()["lines"];
    assert_eq!(lines[1]["accesses"].as_array().unwrap().len(), 2);
    assert_eq!(lines[1]["global_load"]["requests"], 2 * 64 * 128);
    assert_eq!(lines[1]["accesses"][0]["sectors_per_request"], 32.0);
    assert_eq!(lines[0]["global_load"], Value::Null);
    assert_eq!(lines[3]["shared_load"]["wavefronts"], 32 * 128);
}

#[test]
fn a_comparison_is_one_object() {
    let left = support::explanation();
    let mut right = left.clone();
    right.kernel = "coalesced".into();
    let document = serde_json::to_value(Document::new(&left, Some(&right))).unwrap();
    assert_eq!(
        (&document["kernel"], &document["compared_with"]["kernel"]),
        (&json!("naive"), &json!("coalesced"))
    );
    let table = text::comparison(&left, &right, 80);
    assert!(table.contains("coalesced") && table.contains("16.5"), "{table}");
}

#[test]
fn the_text_says_what_limits_and_what_to_do() {
    let text = text::report(&support::explanation(), 80);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "66.7 %: 32 of 48 warps, 1 block per SM (37 registers per thread)",
        "limited by warps and registers",
        "naive is wrong: ",
        ", lines 8",
        "7 load of A 8,192 32 sectors 4 12.5 % used",
        "524,288 FLOP",
        "thread (3,0,0)",
        "__syncthreads()",
        "note:",
    ] {
        assert!(unwrapped.contains(words), "{words} is missing in\n{text}");
    }
    let shown = |line: &str| {
        let mut parts = line.split('\x1b');
        let first = parts.next().unwrap().chars().count();
        first + parts.map(|part| part.split_once('m').unwrap().1.chars().count()).sum::<usize>()
    };
    let widest = text.lines().map(shown).max();
    assert!(widest <= Some(80), "{widest:?}\n{text}");
}

#[test]
fn the_page_needs_nothing_else_and_cannot_be_broken_by_its_data() {
    let (mut explanation, recording) = (support::explanation(), support::recording());
    explanation.notes.push("</script><b>{{data}}".into());
    let exhibit =
        html::Exhibit { explanation: &explanation, recording: &recording, curves: Some(support::curves()) };
    let page = html::page(&[exhibit]).unwrap();
    assert_eq!(page.matches("</script>").count(), 2, "the data and the script");
    assert!(!page.contains("<b>"));
    for elsewhere in ["src=", "http-equiv=\"refresh\"", "@import", "url("] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["kernels"][0]["explanation"]["notes"][1], "</script><b>{{data}}");
    // A row for each warp: its loop is a run.
    assert_eq!(data["kernels"][0]["recording"]["patterns"][0]["runs"].as_array().unwrap().len(), 32);
    assert!(page.contains("limited by warps and registers"), "the text is there for readers without script");
}
