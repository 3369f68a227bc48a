//! Every key of JSON is in `docs/json.md`.

use crate::support::{Desk, Run};
use serde_json::Value;
use std::collections::BTreeSet;

/// The heading of the document, a command, and what its keys are called there without.
const COMMANDS: [(&str, &str, &str); 21] = [
    ("explain", "explain transpose-tiled --compare copy-strided -q", "compared_with."),
    ("explain", "explain copy-strided --values output --expect output=f32[4096]:2 -q", ""),
    ("explain", "explain copy-strided --expect output=f32[4096] --max-steps 9 -q", ""),
    ("Errors", "mul none.csv whole.csv", ""),
    ("mul", "mul real.csv real.csv --verify", ""),
    ("mul", "mul real.csv real.csv -s min-plus --from 0 --to 1", ""),
    ("mul --plan", "mul real.csv real.csv --dtype f32 --plan --gpu h200 -q", ""),
    ("mul --plan", "mul real.csv real.csv --plan --backend cpu", ""),
    ("bench", "bench --backend cpu --sizes 8 --rounds 1 -q", ""),
    ("bench --calls", "bench --calls --sizes 8 --rounds 1 -q", ""),
    ("occupancy", "occupancy --gpu a6000 --threads 1024 --regs 37 --best", ""),
    ("occupancy", "occupancy --threads 32 --regs 999", ""),
    ("occupancy", "occupancy --threads 128 --sweep regs=32,64", "rows."),
    ("gpus", "gpus --cc 9.0", "gpus."),
    ("gpus", "gpus a6000", ""),
    ("kernels", "kernels", "kernels."),
    ("kernels", "kernels shared-tile", ""),
    ("kernels", "kernels copy-offset", ""),
    ("doctor", "doctor", ""),
    ("cache", "cache info", ""),
    ("check", "check", ""),
];

/// A check that passes, one that fails by findings and a bound, one that cannot run, and a suppression that nothing needs.
const MANIFEST: &str = r#"
[[kernel]]
name = "conflicts"
catalogue = "transpose-tiled"
budgets = "bank_conflicts == 0"
fail-on = "advice"
[[kernel]]
name = "suppressed"
catalogue = "transpose-tiled"
[[kernel.suppress]]
finding = "bank-conflict"
reason = "shown in the course"
[[kernel]]
name = "none"
file = "none.cu"
[[suppress]]
finding = "shared-race"
reason = "none"
"#;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("tilewright.toml", MANIFEST);
    desk
}

/// Objects whose keys are names of things.
const NAMES: [&str; 6] =
    ["instruction_mix", "peak_flop_per_second", "ridge_flop_per_byte", "details", "environment", "numbers"];

fn keys(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                all.insert(path.clone());
                if !NAMES.contains(&key.as_str()) {
                    keys(value, &path, all);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, path, all)),
        _ => {}
    }
}

/// The words in backticks below a heading.
fn documented(document: &str, heading: &str) -> BTreeSet<String> {
    let parts = document.split("\n## ").skip(1);
    let section = parts.into_iter().find(|part| part.lines().next() == Some(heading));
    let section = section.unwrap_or_else(|| panic!("there is no section {heading}"));
    section.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_is_documented() {
    let desk = desk();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let document = std::fs::read_to_string(path).unwrap();
    for (heading, line, prefix) in COMMANDS {
        let mut command = desk.command(&format!("{line} --format json"));
        // Calls are those of a GPU.
        if heading == "bench --calls" {
            command.env("TILEWRIGHT_CUDA_PATH", "emulator");
        }
        let run = Run::of(command.output().unwrap());
        let text = if run.out.is_empty() { &run.err } else { &run.out };
        let (mut all, known) = (BTreeSet::new(), documented(&document, heading));
        keys(&serde_json::from_str(text).unwrap(), "", &mut all);
        assert!(all.contains("schema"), "{line}");
        for key in all {
            let short = key.strip_prefix(prefix).unwrap_or(&key);
            let is_known = known.contains(&key) || known.contains(short);
            // An object is documented by its parts.
            let has_parts = known.iter().any(|word| word.starts_with(&format!("{short}.")));
            // Those of explain repeat for totals, lines and accesses.
            let name = short.rsplit('.').next().unwrap();
            let is_repeated = heading == "explain" && known.contains(name);
            assert!(
                is_known || has_parts || is_repeated,
                "{line}: `{key}` is not in docs/json.md, {heading}"
            );
        }
    }
}

/// A broadcast is no more than all of what was moved.
#[test]
fn no_efficiency_is_above_one() {
    let report = Desk::new().json("explain naive --arg M=64 --arg N=64 --arg K=64 -q");
    let mut found = Vec::new();
    efficiencies(&report, &mut found);
    assert!(
        found.len() > 4 && found.contains(&1.0) && found.iter().all(|x| (0.0..=1.0).contains(x)),
        "{found:?}"
    );
}

fn efficiencies(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("efficiency").and_then(Value::as_f64));
            object.values().for_each(|value| efficiencies(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| efficiencies(value, found)),
        _ => {}
    }
}

#[test]
fn sizes_and_times_have_units_in_their_names() {
    let desk = desk();
    for (_, line, _) in COMMANDS {
        let run = desk.run(&format!("{line} --format json"));
        let text = if run.out.is_empty() { &run.err } else { &run.out };
        let mut all = BTreeSet::new();
        keys(&serde_json::from_str(text).unwrap(), "", &mut all);
        // Blocks that a resource allows are no bytes.
        for key in all.iter().filter(|key| !key.contains("limits.") || key.starts_with("gpus.limits.")) {
            let name = key.rsplit('.').next().unwrap();
            for (quantity, unit) in
                [("memory", "_bytes"), ("clock", "_hz"), ("workspace", "_bytes"), ("stride", "_bytes")]
            {
                let has_unit = name.ends_with(unit) || name.ends_with("_gb") || name.ends_with("per_second");
                assert!(!name.contains(quantity) || has_unit, "{line}: {key} has no unit");
            }
        }
    }
}
