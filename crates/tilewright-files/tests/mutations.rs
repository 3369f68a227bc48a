//! Damaged files: thousands of random changes to valid ones must give a matrix or an error, never a panic, and
//! soon. `fuzz/` does the same at length, with coverage, where a nightly compiler is at hand.
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tilewright_core::{DType, Extremes, Value};
use tilewright_files::{Format, ReadOptions, Spec, read_bytes};

/// Marsaglia's xorshift: the same changes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Texts at which parsers stumble.
const WORDS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"1",
    b"18446744073709551615",
    b"9223372036854775807",
    b"4294967296",
    b"99999",
    b"inf",
    b"nan",
    b"1e999",
    b",",
    b"\n",
    b"\"",
    b"'",
    b"(",
    b"{",
    b"\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xEF\xBB\xBF",
];

fn mutate(random: &mut Random, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let until = (at + random.below(9)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            3 => drop(bytes.drain(at..until)),
            4 => {
                let copy = bytes[at..until].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            _ => drop(bytes.splice(at..until, WORDS[random.below(WORDS.len())].iter().copied())),
        }
    }
    bytes
}

#[test]
fn damaged_files_never_panic_and_never_take_long() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for &format in Format::ALL {
        let directory = seeds.join(format.extension());
        let mut seeds: Vec<_> = fs::read_dir(&directory).unwrap().map(|e| e.unwrap().path()).collect();
        seeds.sort();
        assert!(!seeds.is_empty());
        let (mut read, mut refused) = (0, 0);
        for seed in seeds {
            let seed = fs::read(seed).unwrap();
            for round in 0..2000 {
                let bytes = if round == 0 { seed.clone() } else { mutate(&mut random, &seed) };
                let spec = Spec::new("damaged", format, (round % 3 == 1).then(|| "w".to_string()));
                let options = ReadOptions {
                    dtype: [None, None, Some(DType::F16), Some(DType::I8), Some(DType::Bool)]
                        [random.below(5)],
                    extremes: [Extremes::Refuse, Extremes::Absent][random.below(2)],
                    fill: Value::Float(f64::INFINITY),
                    max_bytes: 1 << 20,
                    ..ReadOptions::default()
                };
                let start = Instant::now();
                match read_bytes(&spec, &bytes, &options) {
                    Ok(m) => {
                        // Every element is a valid one.
                        let (m, l) = (m.as_ref(), m.layout());
                        assert!(l.is_empty() || m.get(l.rows - 1, l.cols - 1).is_some());
                        read += 1;
                    }
                    Err(error) => {
                        assert!(matches!(error.code(), "bad-file" | "out-of-memory"), "{error}");
                        refused += 1;
                    }
                }
                assert!(start.elapsed() < Duration::from_secs(10), "{format}: {:?}", bytes.escape_ascii());
            }
        }
        assert!(read > 0 && refused > 0, "{format}: {read} read, {refused} refused");
    }
}
