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
