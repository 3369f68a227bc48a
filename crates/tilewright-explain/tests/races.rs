//! Races of the emulator's planted faults: what is said of them, and that the fix that is given ends them.

use crate::plain;
use std::path::{Path, PathBuf};
use tilewright_arch::ComputeCapability;
use tilewright_explain::*;

/// A pair of kernels, as the directives of its file say.
#[derive(Clone, Debug, Default)]
struct Planted {
    name: String,
    file: PathBuf,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    arguments: Vec<String>,
    finds: String,
}

fn extent(text: &str) -> [u32; 3] {
    let mut numbers = text.split([',', 'x']).map(|number| number.parse().unwrap());
    std::array::from_fn(|_| numbers.next().unwrap_or(1))
}

fn planted() -> Vec<Planted> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tilewright-emulator/tests/faults");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cu"));
    files.sort();
    let mut planted: Vec<Planted> = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let Some(directive) = line.trim().strip_prefix("//@") else { continue };
            let mut words = directive.split_whitespace();
            match words.next().unwrap() {
                "pair" => {
                    let name = words.next().unwrap().into();
                    planted.push(Planted { name, file: file.with_extension("ptx"), ..Planted::default() });
                }
                "launch" => {
                    let pair = planted.last_mut().unwrap();
                    for (key, value) in words.map(|word| word.split_once('=').unwrap()) {
                        match key {
                            "grid" => pair.grid = extent(value),
                            "block" => pair.block = extent(value),
                            "blocks" => {}
                            _ => pair.dynamic_shared = value.parse().unwrap(),
                        }
                    }
                }
                "args" => planted.last_mut().unwrap().arguments = words.map(String::from).collect(),
                "finds" => planted.last_mut().unwrap().finds = words.next().unwrap().into(),
                other => panic!("{other}"),
            }
        }
    }
    planted
}

fn argument(text: &str) -> String {
    match text.split_once(']') {
        Some((array, ":zero")) => format!("{array}]:zeros"),
        Some((array, _)) => format!("{}]:range", array.replace("u32", "i32").replace("u64", "i64")),
        None => text.split_once([':', '=']).map_or(text, |(_, value)| value).to_owned(),
    }
}

fn explain(pair: &Planted, ptx: &str, folder: &Path) -> Explained {
    let file = folder.join(pair.file.file_name().unwrap());
    std::fs::write(&file, ptx).unwrap();
    let arguments: Vec<(String, String)> =
        pair.arguments.iter().enumerate().map(|(i, text)| (i.to_string(), argument(text))).collect();
    let borrowed: Vec<(&str, &str)> = arguments.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let request = Request {
        entry: Some(format!("{}_faulty", pair.name)),
        grid: Some(pair.grid),
        block: Some(pair.block),
        dynamic_shared_memory: Some(pair.dynamic_shared),
        ..plain::request(Gpu::of(ComputeCapability::new(8, 0)).unwrap(), &borrowed)
    };
    let case = Case::of_file(&file, &request).unwrap();
    case.explain_under(&request.gpu, &Control { max_steps: Some(20_000), ..Control::default() }).unwrap()
}

fn races(explained: &Explained) -> Vec<&Finding> {
    let errors = explained.explanation.findings.iter().filter(|f| f.severity == Severity::Error);
    errors.filter(|f| f.kind.is_race() && f.kind != FindingKind::BlockRace).collect()
}

/// What a race is known by, wherever lines of the PTX have moved to.
fn identity(finding: &Finding) -> Vec<(String, Option<u32>)> {
    finding.participants.iter().map(|p| (p.what.clone(), p.location.as_ref().unwrap().line)).collect()
}

/// The PTX with the remedy at every place that its words may mean.
fn remedied(ptx: &str, finding: &Finding) -> Vec<String> {
    let remedy = finding.remedy.as_ref().unwrap();
    let instruction = if remedy.insert == "__syncwarp()" { "bar.warp.sync -1;" } else { "bar.sync 0;" };
    let of = |p: &Participant| p.location.as_ref().unwrap().ptx_line.unwrap() as usize;
    let (a, b) = (of(&finding.participants[0]), of(&finding.participants[1]));
    let (first, last) = (a.min(b), a.max(b));
    let lines: Vec<&str> = ptx.lines().collect();
    // Before line `at`, counted from 1.
    let with = |at: usize| {
        let mut lines = lines.clone();
        lines.insert(at - 1, instruction);
        lines.join("\n")
    };
    match remedy.place {
        RemedyPlace::EndOfLoop => {
            let jumps_back = |at: &usize| {
                let text = lines[at - 1].trim();
                let label =
                    text.strip_suffix(';').and_then(|t| t.split_whitespace().last()).unwrap_or_default();
                let target = lines.iter().position(|line| line.trim() == format!("{label}:"));
                text.contains("bra") && target.is_some_and(|target| target < first)
            };
            // An unrolled loop ends each of its copies between the two.
            let end = (last..=lines.len()).find(jumps_back);
            end.map_or_else(|| (first + 1..=last).map(with).collect(), |end| vec![with(end)])
        }
        RemedyPlace::Between | RemedyPlace::WithinLine => (first + 1..=last).map(with).collect(),
    }
}

/// Here the compiler has put the store and the load into two branches, so that no place of the PTX lies between them.
const IN_TWO_BRANCHES: &str = "leader_store";

#[test]
fn following_the_fix_of_a_planted_race_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut followed, mut failures) = (0, Vec::new());
    for pair in planted() {
        if !["SharedRace", "WarpRace", "GlobalRace"].contains(&pair.finds.as_str()) {
            continue;
        }
        let ptx = std::fs::read_to_string(&pair.file).unwrap();
        let explained = explain(&pair, &ptx, folder.path());
        let found = races(&explained);
        assert!(!found.is_empty(), "{}", pair.name);
        for finding in found {
            // Where threads tell each other by a flag, a barrier would wait for ever: fences and strong accesses are asked for.
            if finding.fix.contains("__threadfence") {
                assert!(finding.remedy.is_none(), "{}", finding.fix);
                continue;
            }
            let Some(_) = &finding.remedy else {
                failures.push(format!("{}: no remedy: {} FIX {}", pair.name, finding.message, finding.fix));
                continue;
            };
            if pair.name == IN_TWO_BRANCHES {
                let source = std::fs::read_to_string(pair.file.with_extension("cu")).unwrap();
                let correct = source.split("leader_store_correct").nth(1).unwrap();
                assert!(correct.contains("scale = in[7];\n    __syncwarp();\n    out"));
                assert!(finding.fix.starts_with("put __syncwarp() between the store"), "{}", finding.fix);
                continue;
            }
            let ends_it = |text: &String| {
                let after = explain(&pair, text, folder.path());
                let is_gone = races(&after).iter().all(|f| identity(f) != identity(finding));
                // A barrier that not all reach would be another error.
                let errors = after.explanation.findings.iter().filter(|f| f.severity == Severity::Error);
                is_gone && errors.into_iter().all(|f| f.kind.is_race())
            };
            if remedied(&ptx, finding).iter().any(ends_it) {
                followed += 1;
            } else {
                failures.push(format!("{}: {} FIX {}", pair.name, finding.message, finding.fix));
            }
        }
    }
    eprintln!("{followed} races are ended by their fix");
    assert!(failures.is_empty(), "{followed} followed, but:\n{}", failures.join("\n"));
    assert!(followed >= 15, "{followed}");
}

#[test]
fn a_race_in_a_loop_names_both_iterations_elements_and_the_end_of_the_loop() {
    let folder = tempfile::tempdir().unwrap();
    let pair = planted().into_iter().find(|pair| pair.name == "reduction_in_a_loop").unwrap();
    let ptx = std::fs::read_to_string(&pair.file).unwrap();
    std::fs::copy(pair.file.with_extension("cu"), folder.path().join("missing_barrier.cu")).unwrap();
    let explained = explain(&pair, &ptx, folder.path());
    let found = races(&explained);
    let one_line = found.iter().find(|f| f.message.contains("both are on line")).unwrap();
    assert!(one_line.message.contains("`sum["), "{}", one_line.message);
    assert!(one_line.message.contains("iteration"), "{}", one_line.message);
    assert!(one_line.fix.contains("at the end of the loop's body"), "{}", one_line.fix);
    let [a, b] = &one_line.participants[..] else { panic!("{one_line:?}") };
    assert_ne!(a.iteration, b.iteration);
    assert_eq!(a.element, b.element);
    assert!(a.iteration.is_some() && a.element.as_ref().unwrap().starts_with("sum["));
    // The catalogue of kinds is merged: one entry for a pair of lines and an array.
    let mut seen: Vec<_> = found.iter().map(|f| (f.kind, identity(f))).collect();
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), all);
}
