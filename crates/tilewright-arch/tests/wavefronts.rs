//! The memory rules against counters measured on an H200: every row of `data/h200_wavefronts.csv`.

use tilewright_arch::memory::{LaneAddresses, global, shared};

const MEASURED: &str = include_str!("data/h200_wavefronts.csv");

struct Row<'a> {
    line: &'a str,
    op: &'a str,
    bytes: u32,
    active: u32,
    sectors: &'a str,
    wavefronts: &'a str,
    offsets: LaneAddresses,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    MEASURED.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), 39, "{line}");
        Row {
            line,
            op: fields[2],
            bytes: fields[3].parse().expect(line),
            active: u32::from_str_radix(fields[4], 16).expect(line),
            sectors: fields[5],
            wavefronts: fields[6],
            offsets: std::array::from_fn(|lane| fields[7 + lane].parse().expect(line)),
        }
    })
}

#[test]
fn every_measured_row_is_reproduced() {
    let mut checked = 0;
    for row in rows() {
        let (counted, measured) = match row.op {
            "ldg" | "stg" => (global::sectors(&row.offsets, row.active, row.bytes), row.sectors),
            "lds" => (shared::load(&row.offsets, row.active, row.bytes).wavefronts, row.wavefronts),
            "sts" => (shared::store(&row.offsets, row.active, row.bytes).wavefronts, row.wavefronts),
            other => panic!("unknown operation {other}: {}", row.line),
        };
        assert_eq!(counted.to_string(), measured, "{}", row.line);
        checked += 1;
    }
    assert_eq!(checked, 449);
}

/// The base of an allocation is aligned to 256 bytes, so it changes nothing.
#[test]
fn the_base_address_does_not_matter() {
    for row in rows() {
        let moved = row.offsets.map(|offset| offset + 0x7f12_3456_7800);
        assert_eq!(
            global::sectors(&row.offsets, row.active, row.bytes),
            global::sectors(&moved, row.active, row.bytes)
        );
        assert_eq!(
            shared::load(&row.offsets, row.active, row.bytes),
            shared::load(&moved, row.active, row.bytes)
        );
        assert_eq!(
            shared::store(&row.offsets, row.active, row.bytes),
            shared::store(&moved, row.active, row.bytes)
        );
    }
}

/// The rules word by word, without any of the shortcuts: every byte, every bank.
mod definition {
    use std::collections::{BTreeMap, BTreeSet};
    use tilewright_arch::memory::LaneAddresses;

    fn active_lanes(active: u32) -> impl Iterator<Item = usize> {
        (0..32).filter(move |lane| active >> lane & 1 == 1)
    }

    pub fn sectors(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
        let touched: BTreeSet<u64> = active_lanes(active)
            .flat_map(|lane| (0..u64::from(bytes)).map(move |byte| (addresses[lane] + byte) / 32))
            .collect();
        touched.len() as u32
    }

    pub fn wavefronts(addresses: &LaneAddresses, active: u32, bytes: u32, group_lanes: usize) -> u32 {
        let group = |start: usize| {
            let mut words_of_bank: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
            for lane in active_lanes(active).filter(|lane| (start..start + group_lanes).contains(lane)) {
                for byte in 0..u64::from(bytes) {
                    let word = (addresses[lane] + byte) / 4;
                    words_of_bank.entry(word % 32).or_default().insert(word);
                }
            }
            words_of_bank.values().map(BTreeSet::len).max().unwrap_or(0) as u32
        };
        (0..32).step_by(group_lanes).map(group).sum()
    }

    pub fn load_group_lanes(addresses: &LaneAddresses, active: u32, bytes: u32) -> usize {
        let plain = 32.min(128 / bytes as usize);
        let pairs = |distance: usize| {
            active_lanes(active).all(|lane| {
                let partner = lane ^ distance;
                active >> partner & 1 == 0 || addresses[lane] == addresses[partner]
            })
        };
        if bytes > 4 && (pairs(1) || pairs(2)) { 2 * plain } else { plain }
    }
}

/// Patterns of many kinds: strides, tiles, permutations, repetitions, random ones; whole and partial warps.
#[test]
fn shortcuts_agree_with_the_definition() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) % below
    };
    for case in 0..5_000 {
        let bytes = 1 << random(5);
        let width = u64::from(bytes);
        let base = 256 * random(64) + width * random(64);
        let (stride, pitch, columns) = (random(80), random(600), 1 << random(6));
        let range = 1 << random(12);
        let kind = random(6);
        let mut scattered = [0u64; 32];
        scattered.iter_mut().for_each(|value| *value = random(range));
        let addresses: LaneAddresses = std::array::from_fn(|lane| {
            let lane_number = lane as u64;
            let offset = match kind {
                0 => lane_number * stride,
                1 => (31 - lane_number) * stride,
                2 => lane_number % columns * stride + lane_number / columns * pitch,
                3 => lane_number / columns * stride + lane_number % columns * pitch,
                4 => scattered[lane],
                _ => scattered[lane & !(1 << (columns.trailing_zeros() % 3))],
            };
            base + width * offset
        });
        let active = match random(4) {
            0 => random(1 << 32) as u32,
            1 => u32::MAX >> random(32),
            _ => u32::MAX,
        };
        let context = || format!("case {case}: {bytes} bytes, active {active:08x}, {addresses:?}");
        assert_eq!(
            global::sectors(&addresses, active, bytes),
            definition::sectors(&addresses, active, bytes),
            "{}",
            context()
        );
        let plain = 32.min(128 / bytes as usize);
        assert_eq!(
            shared::store(&addresses, active, bytes).wavefronts,
            definition::wavefronts(&addresses, active, bytes, plain),
            "{}",
            context()
        );
        let paired = definition::load_group_lanes(&addresses, active, bytes);
        assert_eq!(
            shared::load(&addresses, active, bytes).wavefronts,
            definition::wavefronts(&addresses, active, bytes, paired),
            "{}",
            context()
        );
        // Global accesses need not be aligned for the count to be right.
        let shifted = addresses.map(|address| address + 1);
        assert_eq!(
            global::sectors(&shifted, active, bytes),
            definition::sectors(&shifted, active, bytes),
            "{}",
            context()
        );
    }
}
