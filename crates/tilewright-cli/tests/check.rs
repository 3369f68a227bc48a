//! `check`: kernels of a project as tests. Kernels are PTX, which needs no compiler, but those of the example.

use crate::support::{Desk, Run};
use serde_json::Value;
use std::path::{Path, PathBuf};

const REVERSE: &str = include_str!("../../tilewright-explain/tests/reverse.ptx");
const RACES: [&str; 2] = [
    include_str!("../../tilewright-emulator/tests/faults/missing_barrier.cu"),
    include_str!("../../tilewright-emulator/tests/faults/missing_barrier.ptx"),
];

const RIGHT: &str = r#"
[[kernel]]
name = "reverse"
file = "reverse.ptx"
block = 256
matrix = { factor = [1, 2] }
args = { input = "f32[256]:range", output = "f32[256]", factor = "{factor}" }
budgets = ["load_sectors_per_request <= 8", "races == 0"]
"#;

const WRONG: &str = r#"
[[kernel]]
name = "right"
file = "kernels/missing_barrier.ptx"
entry = "reversed_tile_correct"
block = 64
args = { data = "f32[64]:range" }
expect.data = { file = "reversed.csv" }

[[kernel]]
name = "race"
file = "kernels/missing_barrier.ptx"
entry = "reversed_tile_faulty"
block = 64
args = { data = "f32[64]:range" }
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// A directory with kernels, and a cache of its own.
struct Project(Desk);

impl Project {
    fn new(manifest: &str) -> Self {
        let desk = Desk::new();
        desk.put("reverse.ptx", REVERSE);
        std::fs::create_dir(desk.file("kernels")).unwrap();
        desk.put("kernels/missing_barrier.cu", RACES[0]);
        desk.put("kernels/missing_barrier.ptx", RACES[1]);
        let reversed: Vec<String> = (0..64).rev().map(|n| n.to_string()).collect();
        desk.put("reversed.csv", &reversed.join(","));
        desk.put("tilewright.toml", manifest);
        Self(desk)
    }

    fn run(&self, line: &str) -> Run {
        let mut command = self.0.command(&format!("check {line}"));
        command.env("TILEWRIGHT_CACHE_DIR", self.0.file("cache")).env_remove("TILEWRIGHT_NO_CACHE");
        Run::of(command.output().unwrap())
    }
}

#[test]
fn checks_pass_and_are_taken_from_the_cache() {
    let project = Project::new(RIGHT);
    let first = project.run("");
    assert_eq!(first.code, Some(0), "{}{}", first.out, first.err);
    assert!(
        first.out.starts_with("ok      reverse [factor=1]\nok      reverse [factor=2]\n"),
        "{}",
        first.out
    );
    assert!(first.out.contains("2 checks: 2 ok; "), "{}", first.out);
    assert!(project.run("").out.contains("ok      reverse [factor=1] (cached)\n"));
    assert!(!project.run("--no-cache").out.contains("cached"));
    // What a check depends on is in its key: the source, the launch, the GPU. Bounds are judged anew.
    project.0.put("reverse.ptx", &format!("{REVERSE}\n"));
    assert!(!project.run("").out.contains("cached"));
    assert!(!project.run("--gpu a6000").out.contains("cached"));
    project.0.put("tilewright.toml", &RIGHT.replace("<= 8", "<= 7.5"));
    let broken = project.run("--filter factor=1");
    assert_eq!(broken.code, Some(1));
    assert!(broken.out.contains("FAILED  reverse [factor=1] (cached)"), "{}", broken.out);
    assert!(
        broken.out.contains("budget: reverse: load_sectors_per_request <= 7.5 is asked for, it is 8"),
        "{}",
        broken.out
    );
}

#[test]
fn races_fail_and_the_rest_is_compared() {
    let project = Project::new(WRONG);
    let run = project.run("");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.starts_with("ok      right\nFAILED  race\n"), "{}", run.out);
    assert!(run.out.contains("error shared-race: kernels/missing_barrier.cu:1"), "{}", run.out);
    assert!(run.err.contains("1 of 2 checks failed"), "{}", run.err);
    // The same text every time.
    let text = |run: Run| run.out.lines().filter(|line| !line.contains(" s")).collect::<String>();
    let again = || text(project.run("--no-cache --jobs 2"));
    assert_eq!(again(), again());
    // A wrong result.
    project.0.put("reversed.csv", &vec!["0"; 64].join(","));
    let run = project.run("--filter right");
    assert!(run.out.contains("differs in 63 of 64 elements"), "{}", run.out);
}

#[test]
fn launches_share_arrays_and_another_kernel_tells_what_is_expected() {
    let manifest = r#"
[[kernel]]
name = "twice"
file = "reverse.ptx"
block = 256
arrays = { middle = "f32[256]" }
expect.output = { kernel = "once" }
[[kernel.launch]]
args = { input = "f32[256]:range", output = "middle", factor = 3 }
[[kernel.launch]]
args = { input = "middle", output = "f32[256]", factor = 0.5 }

[[kernel]]
name = "once"
file = "reverse.ptx"
block = 256
# Element 255 - 32 i of what the first launch leaves is 3 (32 (i mod 8)), and so on.
args = { input = "f32[256]:1", output = "f32[256]", factor = 0 }
"#;
    let project = Project::new(manifest);
    let run = project.run("");
    // The second launch reads elements 0, 32, 64, ... of `middle`, which all come from thread 7 mod 8: 3 * 224 * 0.5.
    assert!(
        run.out.contains("output differs in 256 of 256 elements") && run.out.contains("output[0] is 336"),
        "{}{}",
        run.out,
        run.err
    );
    project.0.put(
        "tilewright.toml",
        &manifest.replace("f32[256]:1", "f32[256]:336").replace("factor = 0 }", "factor = 1 }"),
    );
    let run = project.run("");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}

#[test]
fn a_python_expression_tells_what_is_expected() {
    let manifest = r#"
[[kernel]]
name = "reverse"
file = "reverse.ptx"
block = 256
matrix = { step = [32] }
args = { input = "f32[256]:range", output = "f32[256]", factor = 2 }
expect.output = { python = "np.tile(input[::step] * 2, 32)[::-1]" }
"#;
    let project = Project::new(manifest);
    let with_python = |python: &str| {
        let mut command = project.0.command("check --no-cache");
        Run::of(command.env("TILEWRIGHT_PYTHON", python).output().unwrap())
    };
    let without = with_python("/none/python3");
    assert_eq!(without.code, Some(0));
    assert!(
        without.out.contains("note: reverse [step=32]: output is not compared: there is no python3"),
        "{}",
        without.out
    );
    let python = std::env::var("TILEWRIGHT_PYTHON").unwrap_or_else(|_| "python3".into());
    let numpy = std::process::Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no NumPy");
        return;
    }
    let right = with_python(&python);
    assert_eq!(right.code, Some(0), "{}", right.out);
    assert!(!right.out.contains("note"), "{}", right.out);
    project.0.put("tilewright.toml", &manifest.replace("* 2, 32", "* 3, 32"));
    assert!(with_python(&python).out.contains("output differs in"));
    project.0.put("tilewright.toml", &manifest.replace("np.tile", "np.tiles"));
    assert!(with_python(&python).out.contains("the expression for output fails: AttributeError"));
}

#[test]
fn suppressions_accept_what_they_name() {
    let suppress = |more: &str| {
        let all = "[[suppress]]\nfinding = \"uninitialised-shared\"\nseverity = \"error\"\nreason = \"by the same race\"\n";
        let race = "[[kernel.suppress]]\nfinding = \"shared-race\"\nseverity = \"error\"\nreason = \"known: see 12\"\n";
        format!("{WRONG}{race}{more}\n{all}")
    };
    let project = Project::new(&suppress("file = \"missing_barrier.cu\"\nsource = \"tile[\"\n"));
    let run = project.run("");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(run.out.contains("2 findings suppressed"), "{}", run.out);
    let project = Project::new(&suppress("line = 1\n"));
    let run = project.run("");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("nothing needs the suppression of shared-race (known: see 12)"), "{}", run.out);
}

/// Misaligned either way: by half a word, which is a fault, or by a word, which costs sectors.
const SHIFTED: &str = r#"
.version 8.0
.target sm_80
.address_size 64

.visible .entry shifted(.param .u64 x, .param .u64 by)
{
    .reg .f32 %f<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;

    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [by];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd4, %rd4, %rd2;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd4], %f1;
    ret;
}
"#;

#[test]
fn a_suppression_of_an_advice_does_not_hide_a_fault_of_the_same_name() {
    let manifest = |by: u32, more: &str| {
        format!(
            "[[kernel]]\nname = \"shifted\"\nfile = \"shifted.ptx\"\nblock = 32\nargs = {{ x = \"f32[64]:ones\", by = {by} }}\n\
             [[kernel.suppress]]\nfinding = \"misaligned\"\nreason = \"no matter\"\n{more}"
        )
    };
    let project = Project::new("");
    project.0.put("shifted.ptx", SHIFTED);
    for (by, more, passes) in [
        (4, "", true),
        (4, "severity = \"advice\"\n", true),
        (4, "severity = \"error\"\n", true),
        (2, "", false),
        (2, "severity = \"advice\"\n", false),
        (2, "severity = \"error\"\n", true),
    ] {
        project.0.put("tilewright.toml", &manifest(by, more));
        let run = project.run("");
        assert_eq!(run.code, Some(i32::from(!passes)), "{by} {more}: {}{}", run.out, run.err);
        let told = run.out.contains("accepts no error; with severity = \"error\" it would");
        assert_eq!(told, by == 2 && more.is_empty(), "{by} {more}: {}", run.out);
    }
}

/// The kernel that shifts by some bytes: by 4 for the advice, by 2 for the fault.
fn shifted_by(by: u32, more: &str) -> String {
    format!(
        "[[kernel]]\nname = \"shifted\"\nfile = \"shifted.ptx\"\nblock = 32\n\
         args = {{ x = \"f32[64]:ones\", by = {by} }}\nfail-on = \"advice\"\n{more}"
    )
}

#[test]
fn accepting_misaligned_sectors_accepts_no_misaligned_access() {
    let project = Project::new("");
    project.0.put("shifted.ptx", SHIFTED);
    for (by, finding, severity, passes) in [
        (4, "misaligned-sectors", "advice", true),
        // As manifests had it while the advice had the name of the fault.
        (4, "misaligned", "advice", true),
        (4, "misaligned", "error", false),
        (2, "misaligned-sectors", "advice", false),
        (2, "misaligned-sectors", "error", false),
        (2, "misaligned", "error", true),
    ] {
        let suppress = format!(
            "[[kernel.suppress]]\nfinding = \"{finding}\"\nreason = \"no matter\"\nseverity = \"{severity}\"\n"
        );
        project.0.put("tilewright.toml", &shifted_by(by, &suppress));
        let run = project.run("");
        let what = format!("{by} {finding} {severity}: {}{}", run.out, run.err);
        assert_eq!(run.code, Some(i32::from(!passes)), "{what}");
    }
}

#[test]
fn a_baseline_with_misaligned_sectors_does_not_know_a_misaligned_access() {
    let project = Project::new("");
    project.0.put("shifted.ptx", SHIFTED);
    project.0.put("tilewright.toml", &shifted_by(4, ""));
    project.run("--write-baseline baseline.json");
    let same = project.run("--baseline baseline.json");
    assert_eq!(same.code, Some(0), "{}{}", same.out, same.err);
    project.0.put("tilewright.toml", &shifted_by(2, ""));
    let worse = project.run("--baseline baseline.json");
    assert_eq!(worse.code, Some(1), "{}{}", worse.out, worse.err);
    assert!(worse.out.contains("error misaligned: "), "{}", worse.out);
}

#[test]
fn a_faulty_manifest_names_file_line_and_key() {
    for (manifest, says) in [
        ("[[kernel]\n", "tilewright.toml:1: "),
        ("kernel = 1\n", "tilewright.toml:1: kernel: a list of tables"),
        ("", "tilewright.toml:1: the key kernel is missing"),
        ("[[kernel]]\nname = \"a\"\n", "tilewright.toml:1: kernel[0]: neither file nor catalogue"),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\ngrids = 1\n",
            "tilewright.toml:4: kernel[0].grids: there is no such key; grid is meant",
        ),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\nblock = [1, 2, 3, 4]\n",
            "tilewright.toml:4: kernel[0].block: a number or text",
        ),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\nblock = \"{m}\"\n",
            "tilewright.toml:4: kernel[0].block: {m}: 'm' is not known",
        ),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\nbudgets = [\n  \"registers <= 1\",\n  \"register <= 1\",\n]\n",
            "tilewright.toml:6: kernel[0].budgets[1]: there is no number register; registers is meant",
        ),
        ("[[kernel]]\nname = \"a\"\ncatalogue = \"niave\"\n", "tilewright.toml:3: kernel[0].catalogue: "),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\ngpus = \"z80\"\n",
            "tilewright.toml:4: kernel[0].gpus: ",
        ),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\n[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\n",
            "tilewright.toml:4: kernel[1]: there is a kernel a already",
        ),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\nexpect.x = { kernel = \"b\" }\n",
            "tilewright.toml:4: kernel[0].expect.x.kernel: there is no other kernel b",
        ),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\nexpect.x = { tolerance = 1 }\n",
            "tilewright.toml:4: kernel[0].expect.x: one of file, kernel and python",
        ),
        (
            "[[kernel]]\nname = \"a\"\nfile = \"a.cu\"\n[[suppress]]\nfinding = \"x\"\n",
            "tilewright.toml:4: suppress[0]: the key reason is missing",
        ),
    ] {
        let project = Project::new(manifest);
        let run = project.run("");
        assert_eq!(run.code, Some(2), "{manifest}: {}", run.err);
        assert!(run.err.contains(says), "{manifest}: {}", run.err);
        assert!(run.err.contains("hint: "), "{}", run.err);
    }
    // All faults at once, and a manifest that is not there.
    let run = Project::new("[[kernel]]\nnam = 1\nfile = 2\n").run("");
    assert!(
        run.err.contains("3 faults") && run.err.contains(":2: ") && run.err.contains(":3: "),
        "{}",
        run.err
    );
    let run = Project::new("").run("none");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("none: "), "{}", run.err);
}

#[test]
fn what_cannot_run_fails_and_says_why() {
    let project = Project::new(&RIGHT.replace("block = 256\n", ""));
    let run = project.run("--filter factor=1");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("not run: ") && run.out.contains("with the key block"), "{}", run.out);
}

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
fn a_baseline_knows_what_was_and_fails_on_what_is_worse() {
    let project = Project::new(WRONG);
    assert_eq!(project.run("--write-baseline baseline.json").code, Some(1));
    let known = project.run("--baseline baseline.json");
    assert_eq!(known.code, Some(0), "{}", known.out);
    assert!(known.out.contains("2 findings known before"), "{}", known.out);
    // Another fault is new, and so is a larger number.
    project.0.put(
        "tilewright.toml",
        &WRONG
            .replace("\"reversed_tile_faulty\"", "\"transposed_block_faulty\"")
            .replace("data = \"f32[64]:range\" }\n", "data = \"f32[256]:range\" }\n")
            .replace("expect", "# expect")
            .replacen("block = 64", "block = [16, 4]", 2),
    );
    let new = project.run("--baseline baseline.json");
    assert_eq!(new.code, Some(1), "{}", new.out);
    let project = Project::new(RIGHT);
    project.run("--write-baseline baseline.json");
    project
        .0
        .put("reverse.ptx", &REVERSE.replace("    ret;", "    st.global.f32 [%rd6+1020], %f3;\n    ret;"));
    let worse = project.run("--baseline baseline.json");
    assert_eq!(worse.code, Some(1), "{}", worse.out);
    assert!(worse.out.contains("worse: reverse: warp_instructions was "), "{}", worse.out);
    project.0.put("baseline.json", "{}");
    assert_eq!(project.run("--baseline baseline.json").code, Some(3));
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
