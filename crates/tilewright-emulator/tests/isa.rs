//! What of PTX 9.0 is executed. `data/ptx_9_0.zip` has a statement for each form of each instruction, all of which ptxas 13.0 assembles;
//! `docs/ptx.md` is made of what the emulator refuses. `TILEWRIGHT_BLESS=1` writes it.

use std::collections::{BTreeMap, HashMap};
use std::{fmt::Write, fs::File, io::Read, path::Path};
use tilewright_emulator::{Program, ProgramError};

/// Words that make an instruction of its own together with the next one.
const FAMILIES: [&str; 27] = [
    "bar.warp",
    "barrier.cluster",
    "clusterlaunchcontrol",
    "cp",
    "cp.async",
    "cp.async.bulk",
    "cp.async.bulk.prefetch",
    "cp.async.mbarrier",
    "cp.reduce",
    "cp.reduce.async",
    "cp.reduce.async.bulk",
    "fence.proxy",
    "mbarrier",
    "multimem",
    "tcgen05",
    "tcgen05.ld",
    "tcgen05.mma",
    "tcgen05.mma.ws",
    "tcgen05.wait",
    "tensormap",
    "wgmma",
    "wgmma.mma_async",
    "wmma",
    "barrier.warp",
    "st",
    "red",
    "mma",
];

/// What follows such a word and is a part of the name.
const PARTS: [&str; 46] = [
    "sync",
    "arrive",
    "wait",
    "try_cancel",
    "query_cancel",
    "async",
    "bulk",
    "tensor",
    "prefetch",
    "commit_group",
    "wait_group",
    "wait_all",
    "mbarrier",
    "reduce",
    "init",
    "inval",
    "expect_tx",
    "complete_tx",
    "arrive_drop",
    "test_wait",
    "try_wait",
    "pending_count",
    "ld_reduce",
    "st",
    "red",
    "alloc",
    "dealloc",
    "relinquish_alloc_permit",
    "ld",
    "cp",
    "shift",
    "mma",
    "sp",
    "ws",
    "fence",
    "commit",
    "replace",
    "cp_fenceproxy",
    "mma_async",
    "load",
    "store",
    "tensormap::generic",
    "alias",
    "warp",
    "cluster",
    "sparse",
];

/// The name of an instruction: its first word, and more where that alone is none.
fn name(opcode: &str) -> String {
    let mut words = opcode.split('.');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        if !FAMILIES.contains(&name.as_str()) || !PARTS.contains(&word) {
            break;
        }
        name = format!("{name}.{word}");
    }
    name
}

/// Forms of an instruction: how many there are, and those that are refused, with the reason.
#[derive(Default)]
struct Forms {
    all: u32,
    refused: BTreeMap<String, Vec<String>>,
}

/// Lines of statements that are not executed, and why. One that cannot be read at all is taken out, and the rest read again.
fn refused(text: &str) -> HashMap<u32, String> {
    let mut refused = HashMap::new();
    let mut lines: Vec<&str> = text.lines().collect();
    loop {
        let (line, why) = match Program::new(&lines.join("\n")) {
            Ok(program) => {
                refused.extend(program.unsupported_in("all").map(|(line, _, why)| (line, why.to_owned())));
                return refused;
            }
            Err(ProgramError::Parse(error)) => (error.line, "the parser does not know this form".to_owned()),
            Err(ProgramError::Undeclared { line, name }) => (line, format!("`{name}` is not known here")),
            Err(other) => panic!("{other}"),
        };
        lines[line as usize - 1] = "";
        refused.insert(line, why);
    }
}

/// By section and instruction, in the order of the files.
fn forms() -> Vec<((String, String), Forms)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ptx_9_0.zip");
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut found: Vec<((String, String), Forms)> = Vec::new();
    let mut places = HashMap::new();
    for index in 0..archive.len() {
        let mut text = String::new();
        archive.by_index(index).unwrap().read_to_string(&mut text).unwrap();
        let refused = refused(&text);
        let mut section = String::new();
        for (line, statement) in text.lines().enumerate() {
            if let Some(title) = statement.strip_prefix("// ## ") {
                section = title.to_owned();
            }
            let is_statement = !section.is_empty() && statement.ends_with(';') && !statement.starts_with('.');
            if !is_statement {
                continue;
            }
            let words = statement
                .trim_start_matches(|c: char| !c.is_whitespace() && statement.starts_with('@'))
                .trim_start();
            let opcode = words.split([' ', ';']).next().unwrap_or_default();
            let key = (section.clone(), name(opcode));
            let place = *places.entry(key.clone()).or_insert_with(|| {
                found.push((key, Forms::default()));
                found.len() - 1
            });
            let forms = &mut found[place].1;
            forms.all += 1;
            if let Some(why) = refused.get(&(line as u32 + 1)) {
                // What is named first is an example: registers that cannot be read have one reason.
                let named = why.strip_prefix('`').and_then(|rest| rest.split_once("` "));
                let named = named.filter(|(name, _)| name.starts_with('%'));
                let (example, why) = named.unwrap_or((opcode, why));
                forms.refused.entry(why.to_owned()).or_default().push(example.to_owned());
            }
        }
    }
    found
}

/// Opcodes of refused forms that are named in the table.
const NAMED: usize = 2;

fn page(forms: &[((String, String), Forms)]) -> String {
    let all: u32 = forms.iter().map(|(_, forms)| forms.all).sum();
    let refused: usize = forms.iter().flat_map(|(_, forms)| forms.refused.values()).map(Vec::len).sum();
    let mut page = format!(
        "# Which instructions of PTX does the emulator execute?\n\n\
         Of {all} forms of PTX 9.0 it executes {}. A form is an instruction with its types and modifiers; all of these are assembled by ptxas 13.0.\n\
         What is missing is refused with its name and line, before it is reached. This page is made by `cargo test -p tilewright-emulator isa`.\n\n",
        all as usize - refused
    );
    let mut sections: Vec<(&str, u32, usize)> = Vec::new();
    for ((section, _), forms) in forms {
        let missing: usize = forms.refused.values().map(Vec::len).sum();
        match sections.iter_mut().find(|known| known.0 == section) {
            Some(known) => (known.1, known.2) = (known.1 + forms.all, known.2 + missing),
            None => sections.push((section, forms.all, missing)),
        }
    }
    page += "| section | forms | executed |\n|---|---:|---:|\n";
    for (section, all, missing) in sections {
        let _ = writeln!(page, "| {section} | {all} | {} |", all as usize - missing);
    }
    page +=
        "\n## What is missing\n\n| instruction | missing | of | such as | why |\n|---|---:|---:|---|---|\n";
    for ((_, name), forms) in forms {
        for (why, opcodes) in &forms.refused {
            let mut examples: Vec<&String> = Vec::new();
            for opcode in opcodes {
                if !examples.contains(&opcode) && examples.len() < NAMED {
                    examples.push(opcode);
                }
            }
            let examples: Vec<String> = examples.iter().map(|opcode| format!("`{opcode}`")).collect();
            let _ = writeln!(
                page,
                "| `{name}` | {} | {} | {} | {why} |",
                opcodes.len(),
                forms.all,
                examples.join(", ")
            );
        }
    }
    page
}

#[test]
fn what_is_missing_stands_in_the_documents() {
    let forms = forms();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ptx.md");
    let page = page(&forms);
    if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
        std::fs::write(path, page).unwrap();
        return;
    }
    assert!(forms.iter().map(|(_, forms)| forms.all).sum::<u32>() > 9000);
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/ptx.md differs: TILEWRIGHT_BLESS=1 renews it");
}

/// Texts of all tests but this one.
fn texts(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, all);
        } else if path.extension().is_some_and(|kind| kind == "ptx" || kind == "rs")
            && !path.ends_with("isa.rs")
        {
            all.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// What is executed stands in a test that executes it. Video instructions on parts of registers are made from the names of the others there.
#[test]
fn every_instruction_stands_in_a_test() {
    let mut all = String::new();
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut all);
    let is_named = |name: &str| {
        all.match_indices(name).any(|(at, _)| {
            let (before, behind) = (&all[..at], &all[at + name.len()..]);
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !before.ends_with(|c: char| is_part(c) || c == '.') && !behind.starts_with(is_part)
        })
    };
    let missing: Vec<String> = forms()
        .into_iter()
        .filter(|(_, forms)| forms.refused.values().map(Vec::len).sum::<usize>() < forms.all as usize)
        .map(|((_, name), _)| name)
        .filter(|name| {
            let is_video = name.starts_with('v') && name.ends_with(['2', '4']);
            let word = name.trim_end_matches(['2', '4']);
            let is_made = || ["", "2"].iter().any(|parts| is_named(&format!("{word}{parts}")));
            !(is_named(name) || is_video && is_made())
        })
        .collect();
    assert_eq!(missing, [""; 0]);
}
