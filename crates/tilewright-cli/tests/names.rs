//! Text of files that reaches a terminal or a log of CI: it is seen, and never obeyed.

use crate::support::{Desk, Run};
use serde_json::Value;
use std::fmt::Write;

/// What a terminal, an editor or a platform would obey.
const NASTY: &str = "a\u{9b}31m\u{1b}[31m\u{1b}]0;t\u{7}\r\u{202e}\u{2066}\u{2028}\u{85}\u{7f}\n::error file=x::pwned\n##[group]g";

fn with(desk: &Desk, line: &str, more: &[&str]) -> Run {
    Run::of(desk.command(line).args(more).output().unwrap())
}

/// Nothing of it came through, on stdout or stderr.
fn assert_seen(what: &str, run: &Run) {
    for text in [&run.out, &run.err] {
        let obeyed = |c: &char| {
            (c.is_control() && *c != '\n' && *c != '\t')
                || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(text.chars().find(obeyed), None, "{what}: {text:?}");
        for line in text.lines() {
            assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{what}: {line:?}");
        }
    }
}

/// A file's name of it; a slash cannot be in one.
fn file(extension: &str) -> String {
    format!("{NASTY}.{extension}")
}

#[test]
fn names_of_files_are_seen() {
    let desk = Desk::new();
    for extension in ["csv", "npy", "npz", "mtx", "safetensors", "txt", "cu", "ptx", "toml"] {
        let name = file(extension);
        for command in [
            "mul",
            "paths",
            "explain",
            "check",
            "run",
            "occupancy --kernel",
            "kernels",
            "gpus",
            "occupancy --gpu",
        ] {
            let mut more = vec![name.as_str()];
            if command == "mul" {
                more.push(&name);
            }
            // The file is not there, and then it holds what it should not.
            assert_seen(command, &with(&desk, command, &more));
            std::fs::write(desk.file(&name), NASTY).unwrap();
            assert_seen(command, &with(&desk, command, &more));
            std::fs::remove_file(desk.file(&name)).unwrap();
        }
    }
    std::fs::write(desk.file(&file("csv")), "1,2\n3,4\n").unwrap();
    for more in [
        vec!["-o", "x.npy"],
        vec!["--labels", NASTY],
        vec!["--from", NASTY, "--to", "1"],
        vec!["--verify"],
        vec!["-v"],
    ] {
        let all: Vec<&str> = [&[file("csv").leak() as &str, "whole.csv"], &more[..]].concat();
        assert_seen("mul", &with(&desk, "mul", &all));
    }
    assert_seen("mul -o", &with(&desk, "mul whole.csv whole.csv -o", &[&file("csv")]));
    assert_seen("paths -o", &with(&desk, "paths roads.csv -o", &[&file("npy")]));
}

#[test]
fn names_of_vertices_rows_and_columns_are_seen() {
    let desk = Desk::new();
    let name = format!("\"{NASTY}\"");
    desk.put("g.csv", &format!("from,to,weight\nA,{name},1\n{name},B,-3\nB,C,1\n"));
    desk.put("loop.csv", &format!("A,{name},1\n{name},A,-3\n"));
    desk.put("t.csv", &format!(",{name},b\n{name},0,1\nb,1,0\n"));
    desk.put("bad.csv", &format!(",{name},{name}\n{name},0,1\nb,1,0\n"));
    desk.put("x.csv", &format!("A,B,{name}\nB,C,{name}\n"));
    desk.put("pairs.csv", &format!("A,{name}\nA,{name}x\n"));
    desk.put("labels.txt", &format!("{name}\nb\n{name}\n"));
    desk.put("header.csv", &format!("{name},b\n0,1\n"));
    for (line, more) in [
        ("paths g.csv", vec![]),
        ("paths g.csv --from A --to C", vec![]),
        ("paths g.csv --from A", vec![]),
        ("paths g.csv --from A --to", vec![NASTY]),
        ("paths g.csv --to A --from", vec![&NASTY[..1]]),
        ("paths g.csv --pairs pairs.csv", vec![]),
        ("paths loop.csv", vec![]),
        ("paths t.csv", vec![]),
        ("paths bad.csv", vec![]),
        ("paths x.csv", vec![]),
        ("paths roads.csv --labels labels.txt", vec![]),
        ("paths roads.csv --labels header.csv:z", vec![]),
        ("mul t.csv t.csv -s min-plus", vec![]),
        ("mul t.csv t.csv -s min-plus --from b --to", vec![NASTY]),
        ("mul t.csv t.csv -s min-plus --to b --from", vec!["none"]),
        ("mul t.csv whole.csv", vec![]),
        ("mul x.csv x.csv", vec![]),
        ("mul bad.csv bad.csv", vec![]),
    ] {
        assert_seen(line, &with(&desk, line, &more));
    }
    // JSON has the name as it is, and csv in quotes.
    let json = desk.json("paths g.csv --from A --to C");
    assert_eq!(json["routes"][0]["stops"][1], NASTY);
}

/// A kernel that runs anywhere, and one that fails.
const PTX: &str = include_str!("../../tilewright-explain/tests/reverse.ptx");

#[test]
fn names_in_manifests_are_seen_in_every_report() {
    let desk = Desk::new();
    let text = |text: &str| {
        serde_json::to_string(text).unwrap().replace('\u{7f}', "\\u007f").replace('\u{85}', "\\u0085")
    };
    std::fs::write(desk.file(&file("ptx")), PTX).unwrap();
    let mut manifest = String::new();
    let nasty = text(NASTY);
    for (name, source) in [("runs", file("ptx")), ("lacks", file("cu"))] {
        let _ = write!(
            manifest,
            "[[kernel]]\nname = {}\nfile = {}\nblock = 256\nfail-on = \"advice\"\nmatrix = {{ of = [{nasty}] }}\n\
             args = {{ input = \"f32[256]\", output = \"f32[256]\", factor = 1 }}\nbudgets = [\"barriers <= 0\"]\n\
             expect.output = {{ file = {} }}\n[[kernel.suppress]]\nfinding = \"deadlock\"\nreason = {nasty}\n",
            text(&format!("{name}{NASTY}")),
            text(&source),
            text(&file("csv")),
        );
    }
    desk.put("tilewright.toml", &manifest);
    for options in ["", "--github", "--format json --github", "--junit j.xml --sarif s.sarif"] {
        let run = desk.run(&format!("check --no-cache {options}"));
        assert_eq!(run.code, Some(1), "{}", run.err);
        let plain =
            |text: &str| text.lines().filter(|line| !line.starts_with("::")).collect::<Vec<_>>().join("\n");
        let out = if options.contains("json") { String::new() } else { plain(&run.out) };
        assert_seen(options, &Run { code: run.code, out, err: plain(&run.err) });
        // Every command is of the annotations, and on one line.
        for line in run.out.lines().chain(run.err.lines()).filter(|line| line.starts_with("::")) {
            assert!(
                ["::error file=", "::notice file=", "::warning file="]
                    .iter()
                    .any(|begin| line.starts_with(begin)),
                "{line}"
            );
            let message = line[2..].split_once("::").unwrap();
            assert!(
                !message.0.contains(char::is_control) && !message.1.contains(char::is_control),
                "{line:?}"
            );
            assert_eq!(message.0.matches(',').count(), 2, "{line}");
        }
    }
    let unseen = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!desk.get("j.xml").contains(unseen));
    let sarif: Value = serde_json::from_str(&desk.get("s.sarif")).unwrap();
    let message = sarif["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(!message.contains(unseen), "{message:?}");
    // A manifest that is wrong, at a key of that name.
    desk.put(
        "tilewright.toml",
        &format!("{nasty} = 1\n[[kernel]]\nname = {nasty}\n{nasty} = {nasty}\nfile = \"a.cu\"\n"),
    );
    assert_seen("faulty", &desk.run("check"));
}

#[test]
fn sources_and_arguments_are_seen() {
    let desk = Desk::new();
    desk.put("k.ptx", PTX);
    std::fs::write(desk.file(&file("ptx")), PTX).unwrap();
    let arguments =
        ["--block", "256", "--arg", "input=f32[256]", "--arg", "output=f32[256]", "--arg", "factor=1"];
    let line = |more: &[&str]| with(&desk, "explain", &[more, &arguments[..]].concat());
    let run = line(&[&file("ptx")]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_seen("explain", &run);
    let (array, given) = (format!("{NASTY}=1"), format!("input={}", file("npy")));
    for more in [
        vec!["k.ptx", "--entry", NASTY],
        vec!["k.ptx", "--arg", &array],
        vec!["k.ptx", "--arg", &given],
        vec!["k.ptx", "--report", "page.html", "--values", NASTY],
        vec!["k.ptx", "--gpu", NASTY],
        vec!["k.ptx", "-D", NASTY],
    ] {
        assert_seen("explain", &line(&more));
    }
    // Even in the source: what is wrong is shown.
    desk.put("bad.ptx", &PTX.replace("bar.sync 0;", &format!("// {NASTY}\n{NASTY};")));
    assert_seen("explain", &line(&["bad.ptx"]));
    assert_seen(
        "bench",
        &with(&desk, "bench --plot", &[&file("svg"), "--sizes", "8", "--rounds", "1", "--backend", "cpu"]),
    );
    assert_seen("tune", &with(&desk, "tune", &[NASTY]));
    assert_seen(
        "cache",
        &Run::of(desk.command("cache info").env("TILEWRIGHT_CACHE_DIR", desk.file(NASTY)).output().unwrap()),
    );
    assert_seen(
        "doctor",
        &Run::of(desk.command("doctor").env("TILEWRIGHT_CACHE_DIR", desk.file(NASTY)).output().unwrap()),
    );
    assert_seen(
        "threads",
        &Run::of(desk.command("mul whole.csv whole.csv").env("TILEWRIGHT_THREADS", NASTY).output().unwrap()),
    );
}
