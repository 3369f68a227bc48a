//! Manifests that were mutated: none of them is a panic, and each fault says where it is.

use super::{super::case::cases, read};
use std::path::Path;
use tilewright_explain::{FindingKind, Schedule};

const SEEDS: [&str; 2] = [
    include_str!("../../../../../examples/ci/tilewright.toml"),
    r#"
[defaults]
fail-on = "warning"
max-time = 20
gpus = ["h200", "a100"]
budgets = ["registers <= 64", "sectors_per_request <= 4"]

[[suppress]]
finding = "shared-race"
reason = "known"

[[kernel]]
name = "sum"
file = "sum.ptx"
matrix = { m = [64, 128], kind = ["ones", "random"] }
grid = "{ceil_div(m, 32)}"
block = [32, 1]
schedule = "random:7"
args = { n = "{m}*2", x = "f32[{m}]:{kind}", y = "f32[{m}]" }
expect.y = { python = "x + 1", tolerance = 1e-3 }
"#,
];

/// What takes the place of a part of the text.
const PIECES: [&str; 16] = [
    "",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "[[kernel]]\n",
    "-1",
    "1e999",
    "99999999999999999999",
    "{m}",
    "\u{0}",
    "é",
    "true",
];

/// A generator that is the same in every run (Knuth's).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// The text with a part of a few characters replaced, or a line of it moved.
    fn mutate(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        let from = self.below(characters.len());
        let length = self.below(8).min(characters.len() - from);
        match self.below(4) {
            0 => {
                let part: Vec<char> = characters[from..from + length].to_vec();
                let to = self.below(characters.len());
                characters.splice(to..to, part);
            }
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                characters.splice(from..from + length, piece.chars());
            }
        }
        characters.into_iter().collect()
    }
}

#[test]
fn mutated_manifests_are_read_or_told_what_is_wrong_and_where() {
    let mut random = Random(1);
    let (mut whole, mut faulty) = (0, 0);
    for round in 0..6000 {
        let mut text = SEEDS[round % SEEDS.len()].to_owned();
        for _ in 0..=random.below(3) {
            text = random.mutate(&text);
        }
        let manifest = read(Path::new("tilewright.toml"), &text);
        let faults = match &manifest {
            Ok(manifest) => cases(manifest, &text, &[]).err().unwrap_or_default(),
            Err(faults) => faults.clone(),
        };
        for fault in &faults {
            assert!((1..=text.lines().count().max(1) + 1).contains(&fault.line), "{fault}\n{text}");
            assert!(!fault.problem.is_empty(), "{text}");
        }
        *if faults.is_empty() { &mut whole } else { &mut faulty } += 1;
    }
    assert!(whole > 300 && faulty > 300, "{whole} {faulty}");
}

#[test]
fn the_seeds_are_manifests() {
    for seed in SEEDS {
        let manifest = read(Path::new("tilewright.toml"), seed).unwrap_or_else(|faults| panic!("{faults:?}"));
        assert!(cases(&manifest, seed, &[]).is_ok_and(|cases| cases.len() > 1), "{seed}");
    }
}

#[test]
fn a_schedule_is_one_of_three() {
    let manifest = |schedule: &str| SEEDS[1].replace("random:7", schedule);
    let schedule =
        |text: &str| read(Path::new("tilewright.toml"), &manifest(text)).map(|read| read.kernels[0].schedule);
    assert!(matches!(schedule("early"), Ok(Schedule::Early)));
    assert!(matches!(schedule("random:7"), Ok(Schedule::Random { seed: 7 })));
    let faults = format!("{:?}", schedule("soon").unwrap_err());
    assert!(faults.contains("late, early, or random:SEED is expected"), "{faults}");
}

/// What damaged manifests are made of beside bytes.
const DAMAGE: [&str; 16] = [
    "[[kernel]]",
    "[kernel]",
    "{n",
    "}",
    "{{",
    "{(((((",
    "\"\"\"",
    "'",
    "\n[",
    "= ",
    "99999999999999999999",
    "-1",
    "nan",
    "1979-05-27",
    "expect.y.kernel = \"saxpy\"",
    "matrix = { n = [",
];

fn damaged(random: &mut Random) -> String {
    let mut bytes = SEEDS[0].as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.below(128) as u8,
            1 => drop(bytes.splice(at..at, DAMAGE[random.below(DAMAGE.len())].bytes())),
            2 => drop(bytes.drain(at..(at + random.below(40)).min(bytes.len()))),
            _ => {
                let from = random.below(bytes.len());
                let piece = bytes[from..(from + random.below(200)).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, piece));
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_manifests_are_read_or_have_faults_with_lines() {
    let (mut random, mut refused) = (Random(1), 0);
    for _ in 0..1_000 {
        let text = damaged(&mut random);
        let lines = 1 + text.lines().count();
        let faults = match read(Path::new("a.toml"), &text) {
            Ok(manifest) => cases(&manifest, &text, &[]).err().unwrap_or_default(),
            Err(faults) => {
                assert!(!faults.is_empty(), "{text}");
                faults
            }
        };
        refused += usize::from(!faults.is_empty());
        for fault in faults {
            assert!((1..=lines).contains(&fault.line) && !fault.problem.is_empty(), "{fault}: {text}");
        }
    }
    assert!((300..1_000).contains(&refused), "{refused}");
}

#[test]
fn a_suppression_of_an_unknown_kind_is_told_the_nearest_and_all() {
    let faults = |kind: &str| {
        let read = read(Path::new("tilewright.toml"), &SEEDS[1].replace("shared-race", kind));
        read.err().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let all = FindingKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let say = |words: &str| vec![format!("9: suppress[0].finding: {words}; there are {all}")];
    assert_eq!(
        faults("shared-rice"),
        say("'shared-rice' is no kind of finding; shared-race is meant, perhaps")
    );
    // Neither another case nor words that only a report has.
    assert_eq!(faults("Trap"), say("'Trap' is no kind of finding; trap is meant, perhaps"));
    assert_eq!(faults("unexpected-result"), say("'unexpected-result' is no kind of finding"));
    for kind in FindingKind::ALL {
        assert_eq!(faults(kind.name()), [""; 0]);
    }
}
