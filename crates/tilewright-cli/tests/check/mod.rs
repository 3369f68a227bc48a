//! `check`: kernels of a project as tests. Kernels are PTX, which needs no compiler, but those of the example.

mod accepted;
mod published;

use crate::support::{Desk, Run};
use std::path::{Path, PathBuf};

const REVERSE: &str = include_str!("../../../tilewright-explain/tests/reverse.ptx");
const RACES: [&str; 2] = [
    include_str!("../../../tilewright-emulator/tests/faults/missing_barrier.cu"),
    include_str!("../../../tilewright-emulator/tests/faults/missing_barrier.ptx"),
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
    // There may be another note, where ptxas is missing.
    assert!(!right.out.contains("not compared"), "{}", right.out);
    project.0.put("tilewright.toml", &manifest.replace("* 2, 32", "* 3, 32"));
    assert!(with_python(&python).out.contains("output differs in"));
    project.0.put("tilewright.toml", &manifest.replace("np.tile", "np.tiles"));
    assert!(with_python(&python).out.contains("the expression for output fails: AttributeError"));
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
