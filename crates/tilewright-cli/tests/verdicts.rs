//! The first lines of a report: does the kernel launch, is it right, is it safe, is it fast.

use crate::support::{Desk, Run};
use serde_json::{Value, json};

const REVERSE: &str = include_str!("../../tilewright-explain/tests/reverse.ptx");
const LAUNCH: &str =
    "explain reverse.ptx --block 256 --arg input=f32[256]:range --arg output=f32[256] --arg factor=1";
/// A product through tiles that lacks a barrier.
const RACE: [&str; 2] =
    [include_str!("../../../docs/course/files/lab.ptx"), include_str!("../../../docs/course/files/lab.cu")];
/// Of its 16 blocks some come to their end.
const SLOW: &str = "explain naive --arg M=128 --arg N=128 --arg K=16 --max-steps 20000 -q";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("reverse.ptx", REVERSE);
    desk.put("lab.ptx", RACE[0]);
    desk.put("lab.cu", RACE[1]);
    desk
}

/// The verdict of a report in text, in one line.
fn verdict(text: &str) -> String {
    let after = text.split("verdict\n").nth(1).unwrap_or_else(|| panic!("no verdict in {text}"));
    after.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the page is given.
fn page(desk: &Desk, name: &str) -> Value {
    let page = desk.get(name);
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn a_wrong_result_is_the_first_line_and_red_everywhere() {
    let desk = desk();
    let line = format!("{LAUNCH} --expect output=f32[256]:5 --expect input=f32[256]:range");
    let run = desk.run(&format!("{line} --report wrong.html"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let said = verdict(&run.out);
    assert!(said.starts_with("reverse.ptx computes a wrong output: "), "{said}");
    for words in [
        "of 256 elements differ. Most of all output[",
        "relative error",
        "input is as expected, 256 elements.",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("no errors") && !said.contains("passes"), "{said}");

    let report = json_of(&desk.run(&format!("{line} --format json")));
    assert_eq!(report["verdict"]["tone"], "error");
    let output = &report["expected"][0];
    let (worst, different) = (&output["worst"], output["different"].as_u64().unwrap());
    let headline = report["verdict"]["headline"].as_str().unwrap();
    assert!(headline.contains(&format!("**wrong output**: {different} of 256 elements")), "{headline}");
    let far = (worst["found"].as_f64().unwrap() - worst["expected"].as_f64().unwrap()).abs() / 5.0;
    assert!((far - output["largest_error"].as_f64().unwrap()).abs() < 1e-9, "{output}");

    let page = page(&desk, "wrong.html");
    assert_eq!(
        (&page["verdict"], &page["kernels"][0]["explanation"]["expected"]),
        (&report["verdict"], &report["expected"])
    );
    let beside = desk.run(&format!("{line} --compare reverse.ptx --format json"));
    assert_eq!(json_of(&beside)["verdict"]["tone"], "error");
}

#[test]
fn a_right_result_comes_before_speed() {
    let said = verdict(&desk().ok(&format!("{LAUNCH} --expect input=f32[256]:range")));
    assert!(said.starts_with("input is as expected, 256 elements. "), "{said}");
}

#[test]
fn behind_an_error_nothing_is_compared_and_that_is_said() {
    let launch = "explain lab.ptx --grid 2,2 --block 16,16 --arg A=f32[32,32]:1 --arg B=f32[32,32]:1 --arg C=f32[32,32] --arg n=32";
    let run = desk().run(&format!("{launch} --expect C=f32[32,32]:32"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let said = verdict(&run.out);
    assert!(said.starts_with("lab.ptx is wrong: shared race"), "{said}");
    assert!(said.contains("C is not compared: the launch had errors."), "{said}");
}

#[test]
fn a_slow_kernel_is_not_finished_and_not_wrong() {
    let desk = desk();
    let line = format!("{SLOW} --expect C=f32[128,128]");
    let run = desk.run(&format!("{line} --report slow.html"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let said = verdict(&run.out);
    assert!(said.starts_with("naive is not finished: the limit of steps was met at "), "{said}");
    for words in [" % of the blocks, ", " of 16", "--max-steps", "smaller grid", "C is not compared"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!run.out.contains("is wrong") && !said.contains("TFLOP"), "{}", run.out);
    assert!(run.err.contains("naive is not finished") && run.err.contains("--max-steps"), "{}", run.err);

    let report = json_of(&desk.run(&format!("{line} --format json")));
    let unfinished = &report["unfinished"];
    assert_eq!((&unfinished["reason"], &unfinished["blocks"]), (&json!("step-limit"), &json!(16)));
    assert!((1..16).contains(&unfinished["blocks_done"].as_u64().unwrap()), "{unfinished}");
    assert_eq!((&report["verdict"]["tone"], &report["not_compared"]), (&json!("unsure"), &json!(["C"])));
    assert!(report.get("expected").is_none());
    assert_eq!(page(&desk, "slow.html")["verdict"]["tone"], "unsure");
}

#[test]
fn checks_have_the_same_order() {
    let desk = desk();
    let kernel = |name: &str, more: &str| {
        format!(
            "[[kernel]]\nname = \"{name}\"\nfile = \"reverse.ptx\"\nblock = 256\n\
             args = {{ input = \"f32[256]:range\", output = \"f32[256]\", factor = 1 }}\n\
             expect.output = {{ file = \"five.csv\" }}\n{more}\n"
        )
    };
    desk.put("five.csv", &["5"; 256].join(","));
    let manifest =
        kernel("wrong", "budgets = [\"warp_instructions <= 1\"]") + &kernel("slow", "max-steps = 9");
    desk.put("tilewright.toml", &manifest);
    let run = desk.run("check --no-cache");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let at = |words: &str| run.out.find(words).unwrap_or_else(|| panic!("{words}: {}", run.out));
    assert!(at("unexpected result: output differs in") < at("budget: "), "{}", run.out);
    let words = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "not-finished: ",
        "at 0 % of the blocks, 0 of 1",
        "more steps with the key max-steps",
        "output is not compared: the launch is not finished",
    ] {
        assert!(words.contains(said), "{said}: {words}");
    }
}

#[test]
fn what_the_compiler_warns_of_is_shown() {
    let desk = desk();
    desk.put("w.cu", "__global__ void w(float* x, int n) {\n    if (n = 3) x[threadIdx.x] = n;\n}\n");
    let line = "explain w.cu --block 32 --arg x=f32[32] --arg n=1";
    let run = desk.run(&format!("{line} --report w.html"));
    if run.code == Some(4) {
        return eprintln!("skipped: {}", run.err);
    }
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("w.cu(2): warning #187-D") && run.out.contains("compiler\n"), "{}", run.out);
    assert!(verdict(&run.out).contains("The compiler has a warning, below."), "{}", run.out);
    let report = desk.json(line);
    let warnings = &report["compiler_warnings"];
    assert!(
        warnings.as_array().unwrap().len() == 1 && warnings[0].as_str().unwrap().contains("if (n = 3)"),
        "{warnings}"
    );
    assert_eq!(page(&desk, "w.html")["kernels"][0]["explanation"]["compiler_warnings"], *warnings);
}
