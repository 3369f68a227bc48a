//! Pairs of kernels, one with a planted fault and one without, from the CUDA sources in `tests/faults`.
//!
//! Directives before each pair say how it is launched and what must be found: see [`Pair`].

use std::path::{Path, PathBuf};

use tilewright_emulator::{
    Argument, BlockOrderPolicy, Finding, FindingKind, Launch, LaunchOptions, Machine, Program, Report,
    Severity,
};

/// What the directives of a pair say.
#[derive(Clone, Debug, Default)]
struct Pair {
    name: String,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    arguments: Vec<String>,
    finds: Expected,
    /// Directives of the pair that this reader does not know.
    unknown: Vec<String>,
    /// Whether a block waits for an earlier one: the limit of steps leaves it no time to do so beside it.
    in_order: bool,
}

/// What must be found in the faulty kernel.
#[derive(Clone, Debug, Default)]
struct Expected {
    kind: String,
    /// Names of the marked lines that the finding may be at.
    lines: Vec<String>,
    /// Ranges of threads that it may name; none: any.
    threads: Vec<(u32, u32)>,
    /// The first target for which it is no fault; none: it is for all.
    below: Option<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults")
}

fn extent(text: &str) -> [u32; 3] {
    let mut numbers = text.split([',', 'x']).map(|number| number.parse().unwrap());
    std::array::from_fn(|_| numbers.next().unwrap_or(1))
}

fn pairs(source: &str) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for line in source.lines() {
        let Some(directive) = line.trim().strip_prefix("//@") else { continue };
        let mut words = directive.split_whitespace();
        let kind = words.next().unwrap();
        if kind == "pair" {
            pairs.push(Pair { name: words.next().unwrap().into(), ..Pair::default() });
            continue;
        }
        let pair = pairs.last_mut().unwrap();
        match kind {
            "launch" => {
                for word in words {
                    match word.split_once('=').unwrap() {
                        ("grid", value) => pair.grid = extent(value),
                        ("block", value) => pair.block = extent(value),
                        ("blocks", "in_order") => pair.in_order = true,
                        ("dynamic" | "shared", value) => pair.dynamic_shared = value.parse().unwrap(),
                        (other, _) => pair.unknown.push(other.into()),
                    }
                }
            }
            "args" => pair.arguments = words.map(String::from).collect(),
            "finds" => {
                let kind = words.next().unwrap().to_string();
                let (mut lines, mut threads, mut below) = (Vec::new(), Vec::new(), None);
                for word in words {
                    match word.split_once('=').unwrap() {
                        ("lines", value) => lines = value.split(',').map(String::from).collect(),
                        ("threads", value) => threads.extend(value.split(',').map(|range| {
                            let (first, last) = range.split_once('-').unwrap_or((range, range));
                            (first.parse().unwrap(), last.parse().unwrap())
                        })),
                        ("below", value) => below = Some(value.to_string()),
                        (other, _) => pair.unknown.push(other.into()),
                    }
                }
                pair.finds = Expected { kind, lines, threads, below };
            }
            other => pair.unknown.push(other.into()),
        }
    }
    pairs
}

fn argument(machine: &mut Machine, text: &str) -> Argument {
    let (ty, rest) = text.split_once('[').map_or((text, None), |(ty, rest)| (ty, Some(rest)));
    let Some(rest) = rest else {
        let (ty, value) = text.split_once([':', '=']).unwrap_or(("i32", ty));
        return match ty {
            "i32" | "u32" => Argument::from(value.parse::<i64>().unwrap() as i32),
            "f32" => Argument::from(value.parse::<f32>().unwrap()),
            "i64" | "u64" => Argument::from(value.parse::<i64>().unwrap()),
            other => panic!("a scalar of type {other}"),
        };
    };
    let (count, fill) = rest.split_once(']').unwrap();
    let count: usize = count.parse().unwrap();
    let zero = fill == ":zero";
    let value = |i: usize| if zero { 0 } else { i as u32 };
    let pointer = match ty {
        "f32" => machine.upload(&(0..count).map(|i| value(i) as f32).collect::<Vec<_>>()),
        "f64" => machine.upload(&(0..count).map(|i| f64::from(value(i))).collect::<Vec<_>>()),
        "i64" | "u64" => machine.upload(&(0..count).map(|i| u64::from(value(i))).collect::<Vec<_>>()),
        "u8" | "i8" => machine.upload(&(0..count).map(|i| value(i) as u8).collect::<Vec<_>>()),
        "u16" | "i16" | "f16" => machine.upload(&(0..count).map(|i| value(i) as u16).collect::<Vec<_>>()),
        _ => machine.upload(&(0..count).map(value).collect::<Vec<_>>()),
    };
    pointer.unwrap().into()
}

fn run(program: &Program, pair: &Pair, suffix: &str, order: BlockOrderPolicy) -> Report {
    let mut machine = Machine::new(program.clone());
    let mut launch = Launch::new(pair.grid, pair.block)
        .dynamic_shared(pair.dynamic_shared)
        .options(LaunchOptions { order, step_limit: Some(20_000), ..LaunchOptions::default() });
    for text in &pair.arguments {
        let argument = argument(&mut machine, text);
        launch = launch.arg(argument);
    }
    machine.launch(&format!("{}_{suffix}", pair.name), &launch).unwrap()
}

/// The lines marked `// @name` in the kernel, or in a function that it calls.
fn marked(source: &str, kernel: &str, name: &str) -> Vec<u32> {
    let from =
        source.lines().position(|line| line.contains("__global__") && line.contains(&format!("{kernel}(")));
    let mark = format!("@{name}");
    let kernel_ends =
        |&(number, line): &(usize, &str)| number == from.unwrap() || !line.contains("__global__");
    let in_kernel: Vec<_> = source.lines().enumerate().skip(from.unwrap()).take_while(kernel_ends).collect();
    let is_in_kernel = in_kernel.iter().any(|(_, line)| line.ends_with(&mark));
    let lines = if is_in_kernel { in_kernel } else { source.lines().enumerate().collect() };
    lines
        .into_iter()
        .filter(|(_, line)| {
            line.split("// ").nth(1).is_some_and(|marks| marks.split([' ', ',']).any(|m| m == mark))
        })
        .map(|(number, _)| number as u32 + 1)
        .collect()
}

fn linear(thread: [u32; 3], block: [u32; 3]) -> u32 {
    (thread[2] * block[1] + thread[1]) * block[0] + thread[0]
}

fn fits(finding: &Finding, pair: &Pair, source: &str) -> bool {
    let Expected { kind, lines, threads, .. } = &pair.finds;
    let lines: Vec<u32> =
        lines.iter().flat_map(|name| marked(source, &format!("{}_faulty", pair.name), name)).collect();
    let parties = || std::iter::once(&finding.at).chain(&finding.with);
    format!("{:?}", finding.kind) == *kind
        && parties().all(|party| party.source.as_ref().is_some_and(|at| lines.contains(&at.line)))
        && parties().flat_map(|party| &party.threads).all(|&thread| {
            let thread = linear(thread, pair.block);
            threads.is_empty() || threads.iter().any(|&(first, last)| (first..=last).contains(&thread))
        })
}

#[test]
fn every_planted_fault_is_found_and_no_correct_twin_is_blamed() {
    let (mut count, mut failures) = (0, Vec::new());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "cu")) {
        let source = std::fs::read_to_string(file).unwrap();
        let ptx = std::fs::read_to_string(file.with_extension("ptx")).unwrap();
        let newest = Program::new(&ptx).unwrap();
        // The last for which threads that have exited count at a barrier.
        let oldest = Program::new(&ptx.replace(".target sm_80", ".target sm_62")).unwrap();
        for pair in pairs(&source) {
            assert!(pair.unknown.is_empty(), "{}: {:?}", pair.name, pair.unknown);
            let orders = [BlockOrderPolicy::Deterministic, BlockOrderPolicy::Parallel];
            for order in orders.into_iter().take(if pair.in_order { 1 } else { 2 }) {
                count += 1;
                let program = if pair.finds.below.is_some() { &oldest } else { &newest };
                if pair.finds.below.is_some() {
                    let harmless = run(&newest, &pair, "faulty", order);
                    let is_note = |finding: &Finding| finding.severity == Severity::Note;
                    assert!(harmless.findings.iter().all(is_note), "{}: {}", pair.name, harmless.findings[0]);
                }
                let faulty = run(program, &pair, "faulty", order);
                if !faulty.findings.iter().any(|finding| fits(finding, &pair, &source)) {
                    failures.push(format!(
                        "{} ({order:?}): {:?} is not found, but:\n{}\n{:?}",
                        pair.name,
                        pair.finds,
                        faulty.findings.iter().map(|f| f.to_string()).collect::<Vec<_>>().join("\n"),
                        faulty.error
                    ));
                }
                let correct = run(program, &pair, "correct", order);
                if correct.error.is_some() || !correct.findings.is_empty() {
                    failures.push(format!(
                        "{} ({order:?}): the correct twin is blamed:\n{}\n{:?}",
                        pair.name,
                        correct.findings.iter().map(|f| f.to_string()).collect::<Vec<_>>().join("\n"),
                        correct.error
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} fail:\n{}", failures.len(), failures.join("\n\n"));
    assert!(count >= 2 * 55, "{count}");
}

#[test]
fn findings_say_where_who_and_what_to_do() {
    let program = Program::new(include_str!("faults/missing_barrier.ptx")).unwrap();
    let pair = &pairs(include_str!("faults/missing_barrier.cu"))[0];
    let report = run(&program, pair, "faulty", BlockOrderPolicy::Deterministic);
    let finding = report.errors().next().unwrap();
    assert_eq!((finding.kind, finding.severity), (FindingKind::SharedRace, Severity::Error));
    let text = finding.to_string();
    for part in ["missing_barrier.cu:", "PTX line", "block (0, 0, 0)", "thread (", "fix:", &finding.kernel] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(finding.with.is_some());
    // The array as the source calls it, and its element.
    assert!(text.contains("`tile[") && !text.contains("_ZZ"), "{text}");
}

#[test]
fn a_race_that_is_one_between_warps_too_is_told_as_that() {
    let program = Program::new(include_str!("faults/missing_barrier.ptx")).unwrap();
    let pairs = pairs(include_str!("faults/missing_barrier.cu"));
    let pair = pairs.iter().find(|pair| pair.name == "reduction_in_a_loop").unwrap();
    let report = run(&program, pair, "faulty", BlockOrderPolicy::Deterministic);
    assert!(report.errors().count() > 0);
    for finding in report.errors() {
        assert_eq!(finding.kind, FindingKind::SharedRace, "{finding}");
        assert!(finding.fix.contains("__syncthreads()"), "{finding}");
    }
}

#[test]
fn two_runs_tell_the_same() {
    let program = Program::new(include_str!("faults/global_race.ptx")).unwrap();
    let mut several = 0;
    for pair in pairs(include_str!("faults/global_race.cu")) {
        let once = || run(&program, &pair, "faulty", BlockOrderPolicy::Parallel);
        let told = |report: Report| (report.findings, format!("{:?}", report.counters), report.error);
        let first = told(once());
        several += usize::from(pair.grid != [1; 3]);
        for _ in 0..8 {
            assert_eq!(told(once()), first, "{}", pair.name);
        }
    }
    assert!(several > 0);
}

#[test]
fn a_launch_that_begins_again_finds_memory_as_it_was() {
    // Every block adds to a counter, and all write one word: the launch begins again, and must not add twice.
    let ptx = ".version 9.0 .target sm_90 .address_size 64
        .visible .entry k(.param .u64 p) {
            .reg .b64 %rd<4>; .reg .b32 %r<6>;
            ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
            red.global.add.u32 [%rd1], 1;
            mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;
            ld.global.u32 %r3, [%rd2+64]; add.u32 %r3, %r3, 1; st.global.u32 [%rd2+64], %r3;
            st.global.u32 [%rd1+4], %r1;
            ret;
        }";
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let data = machine.upload(&[7u32; 256]).unwrap();
    let report = machine.launch("k", &Launch::new([64, 1, 1], [1, 1, 1]).arg(data)).unwrap();
    assert_eq!(
        report.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(),
        [FindingKind::BlockRace]
    );
    let found: Vec<u32> = machine.download(data, 256).unwrap();
    assert_eq!((found[0], found[1]), (7 + 64, 63));
    assert!(found[16..80].iter().all(|&count| count == 8) && found[80..].iter().all(|&same| same == 7));
}

#[test]
fn a_value_that_nobody_has_given_is_told_with_its_load_and_what_it_decides() {
    let program = Program::new(include_str!("faults/definedness.ptx")).unwrap();
    let pairs = pairs(include_str!("faults/definedness.cu"));
    let told = |name: &str| {
        let pair = pairs.iter().find(|pair| pair.name == name).unwrap();
        run(&program, pair, "faulty", BlockOrderPolicy::Deterministic).findings[0].message.clone()
    };
    let cases = [
        (
            "speculated_load",
            "reads `partial[2]`, which no thread has written; the value goes to global memory at",
        ),
        ("deciding_branch", "the value decides a branch"),
        ("deciding_address", "the value decides an address"),
        ("in_two_steps", "the value goes to global memory at definedness.cu:"),
        (
            "largest_without_start",
            "uses a variable to which the thread has not given a value; the value goes",
        ),
    ];
    for (name, part) in cases {
        assert!(told(name).contains(part), "{name}: {}", told(name));
    }
}

#[test]
fn threads_that_have_returned_before_a_barrier_are_noted_where_it_does_not_wait_for_them() {
    let text = include_str!("faults/divergent_barrier.ptx");
    let pairs = pairs(include_str!("faults/divergent_barrier.cu"));
    let pair = pairs.iter().find(|pair| pair.name == "warps_that_have_left").unwrap();
    for (target, severity, part) in [
        (".target sm_80", Severity::Note, "from compute capability 7.0 on it waits for the others alone"),
        (".target sm_62", Severity::Warning, "before compute capability 7.0"),
    ] {
        let program = Program::new(&text.replace(".target sm_80", target)).unwrap();
        let report = run(&program, pair, "faulty", BlockOrderPolicy::Deterministic);
        let finding = &report.findings[0];
        assert_eq!((finding.kind, finding.severity), (FindingKind::BarrierDivergence, severity));
        assert!(finding.message.contains(part), "{finding}");
        assert!(report.is_clean());
    }
}

#[test]
fn a_fix_does_what_the_fault_asks_for() {
    let program = Program::new(include_str!("faults/strong.ptx")).unwrap();
    for pair in pairs(include_str!("faults/strong.cu")) {
        let (has, has_not) = match pair.name.as_str() {
            "weak_flag" => ("__threadfence()", "__syncthreads()"),
            "flag_in_a_block" => ("put __threadfence_block() between the store", "__syncthreads()"),
            "scope_of_the_block" => ("atomicAdd in place of atomicAdd_block", "split the kernel"),
            "blocks_in_turn" | "last_block" => ("put __threadfence() between the store", "use atomic"),
            "scan_in_place" => ("split the kernel in two", "atomic"),
            "overflown_index" => ("(size_t)row * width", "guard the access"),
            _ => continue,
        };
        let report = run(&program, &pair, "faulty", BlockOrderPolicy::Deterministic);
        assert!(report.errors().count() > 0, "{}", pair.name);
        for Finding { fix, .. } in report.errors() {
            assert!(fix.contains(has) && !fix.contains(has_not), "{}: {fix}", pair.name);
        }
    }
}

/// The text of a kernel, up to the next one.
fn text_of<'a>(source: &'a str, kernel: &str) -> &'a str {
    let start = source.find(&format!("{kernel}(")).unwrap();
    let rest = &source[start..];
    &rest[..rest.find("__global__").unwrap_or(rest.len())]
}

#[test]
fn the_correct_twin_is_the_fix_applied() {
    // What a fix may name, and how the source spells it. Barriers are put in by the tests of `tilewright-explain`.
    let constructs = [
        ("__threadfence()", &["__threadfence()"][..]),
        (
            "atomic",
            &[
                "atomicAdd(",
                "atomicMax(",
                "atomicMin(",
                "atomicCAS(",
                "atomicExch(",
                "atomicInc(",
                "red.",
                "atom.",
            ],
        ),
        ("(size_t)", &["(size_t)"]),
        ("volatile", &["(volatile", "__shared__ volatile"]),
        ("mbarrier.init", &["INIT"]),
    ];
    let mut failures = Vec::new();
    for file in std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "cu") {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        let program = Program::new(&std::fs::read_to_string(file.with_extension("ptx")).unwrap()).unwrap();
        for pair in pairs(&source).iter().filter(|pair| pair.finds.below.is_none()) {
            let report = run(&program, pair, "faulty", BlockOrderPolicy::Deterministic);
            let Some(finding) = report.findings.iter().find(|finding| fits(finding, pair, &source)) else {
                continue;
            };
            let [faulty, correct] =
                ["faulty", "correct"].map(|suffix| text_of(&source, &format!("{}_{suffix}", pair.name)));
            let named: Vec<_> = constructs.iter().filter(|(name, _)| finding.fix.contains(name)).collect();
            let is_added = |spellings: &[&str]| {
                spellings
                    .iter()
                    .any(|spelling| correct.matches(spelling).count() > faulty.matches(spelling).count())
            };
            if !named.is_empty() && !named.iter().any(|(_, spellings)| is_added(spellings)) {
                failures.push(format!("{}: {}", pair.name, finding.fix));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
