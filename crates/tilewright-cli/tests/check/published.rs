//! What others read: reports, the schema, the example, and the action of GitHub.

use super::{Project, RACES, WRONG, repository};
use crate::support::{Desk, Run};
use serde_json::Value;

#[test]
fn reports_for_test_viewers_code_scanning_and_annotations() {
    let project = Project::new(WRONG);
    let run = project.run("--junit check.xml --sarif check.sarif --github");
    assert_eq!(run.code, Some(1));
    let junit = project.0.get("check.xml");
    assert!(
        junit.contains("<testsuites name=\"tilewright\" tests=\"2\" failures=\"1\" errors=\"0\""),
        "{junit}"
    );
    assert!(
        junit.contains("<testcase classname=\"race\" name=\"race\" file=\"kernels/missing_barrier.ptx\""),
        "{junit}"
    );
    assert!(junit.contains("type=\"shared-race, uninitialised-shared\""), "{junit}");
    let sarif: Value = serde_json::from_str(&project.0.get("check.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"shared-race".into(), &"error".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "kernels/missing_barrier.cu");
    let line = place["region"]["startLine"].as_u64().unwrap();
    assert!(RACES[0].lines().nth(line as usize - 1).unwrap().contains("tile["), "{line}");
    let annotation =
        format!("::error file=kernels/missing_barrier.cu,line={line},title=shared race in race::");
    assert!(run.out.contains(&annotation), "{}", run.out);
    // The fingerprint stays where lines move.
    let fingerprint = |sarif: &Value| sarif["runs"][0]["results"][0]["partialFingerprints"].clone();
    let before = fingerprint(&sarif);
    project.0.put("kernels/missing_barrier.cu", &format!("\n\n{}", RACES[0]));
    let moved = RACES[1].replace(".loc\t1 10 ", ".loc\t1 12 ").replace(".loc\t1 11 ", ".loc\t1 13 ");
    assert_ne!(moved, RACES[1]);
    project.0.put("kernels/missing_barrier.ptx", &moved);
    project.run("--sarif check.sarif");
    let sarif: Value = serde_json::from_str(&project.0.get("check.sarif")).unwrap();
    assert_eq!(fingerprint(&sarif), before);
    let moved_to = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"];
    assert_eq!(moved_to.as_u64(), Some(line + 2));
}

#[test]
fn the_schema_is_as_documented() {
    let text = Desk::new().ok("check --schema");
    let path = repository().join("docs/check.schema.json");
    if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(text == expected, "docs/check.schema.json differs; TILEWRIGHT_BLESS=1 renews it");
    // Every key and every number is described.
    let page = std::fs::read_to_string(repository().join("docs/check.md")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let mut names = Vec::new();
    names_of(&schema, &mut names);
    assert!(names.len() > 40, "{names:?}");
    let missing: Vec<&String> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/check.md lacks {missing:?}");
}

/// Names of properties, and of numbers in the pattern of a bound.
fn names_of(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                names.extend(properties.keys().cloned());
            }
            if let Some(pattern) = object.get("pattern").and_then(Value::as_str) {
                let inner = pattern.split_once('(').unwrap().1.split_once(')').unwrap().0;
                names.extend(inner.split('|').map(str::to_owned));
            }
            object.values().for_each(|value| names_of(value, names));
        }
        Value::Array(list) => list.iter().for_each(|value| names_of(value, names)),
        _ => {}
    }
}

#[test]
fn the_example_passes() {
    let example = repository().join("examples/ci");
    let desk = Desk::new();
    let mut command = desk.command("check --no-cache --format json");
    let run = Run::of(command.arg(&example).output().unwrap());
    if run.out.contains("libnvrtc") && std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none() {
        println!("skipped: there is no NVRTC");
        return;
    }
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let checks = report["checks"].as_array().unwrap();
    let kernels: std::collections::BTreeSet<&str> =
        checks.iter().map(|check| check["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels.len(), 10, "{kernels:?}");
    for check in checks {
        // Registers are not known without ptxas.
        let problems = check["problems"].as_array().unwrap().iter();
        let wrong: Vec<&Value> = problems
            .filter(|problem| !problem["message"].as_str().unwrap().contains("it is not known"))
            .collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", check["name"]);
        let fails = check["findings"].as_array().unwrap().iter().any(|finding| finding["fate"] == "fails");
        assert!(!fails, "{}: {}", check["name"], check["findings"]);
    }
}

#[test]
fn the_action_knows_its_inputs_and_the_options() {
    let action = std::fs::read_to_string(repository().join("action.yml")).unwrap();
    let inputs = action.split("\ninputs:\n").nth(1).unwrap().split("\noutputs:").next().unwrap();
    let declared: Vec<&str> = inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':').filter(|name| !name.starts_with(' ')))
        .collect();
    assert!(declared.len() >= 5, "{declared:?}");
    let used: Vec<&str> = action
        .split("inputs.")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap())
        .collect();
    for name in &declared {
        assert!(used.contains(name), "{name} is not used");
    }
    for name in &used {
        assert!(declared.contains(name), "{name} is not declared");
    }
    let help = Desk::new().ok("check --help");
    for option in ["--sarif", "--junit", "--github", "--baseline"] {
        assert!(action.contains(option) && help.contains(option), "{option}");
    }
    let workflow = std::fs::read_to_string(repository().join("examples/ci/workflow.yml")).unwrap();
    assert!(workflow.contains("manifest: examples/ci"));
}
