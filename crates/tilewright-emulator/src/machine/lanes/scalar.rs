//! Instructions without an operation of their own: the scalar semantics, lane by lane.

use super::frame::Frame;
use crate::alu::MAX_SOURCES;
use crate::memory::lanes;
use crate::program::instruction::{
    CarrySite, CarrySum, CarryUse, PackSite, RowsSite, ScalarSite, Signed, Width,
};

/// Evaluates `site` in the lanes of `mask`.
pub fn execute(site: &ScalarSite, frame: Frame, mask: u32) {
    let mut rows = [[0u64; 32]; MAX_SOURCES];
    for ((row, slot), flip) in rows.iter_mut().zip(&site.src).zip(&site.flip) {
        if let Some(slot) = slot {
            *row = frame.row(*slot);
            if *flip != 0 {
                row.iter_mut().for_each(|value| *value ^= flip);
            }
        }
    }
    let mut results = [0u64; 32];
    if mask.count_ones() > 8 {
        site.eval.warp(rows.each_ref(), &mut results);
    } else {
        for lane in lanes(mask) {
            results[lane] = site.eval.lane(rows.each_ref().map(|row| row[lane]));
        }
    }
    if let Some(second) = site.dst[1] {
        let results = results.map(|result| result >> site.second_bit);
        frame.set_row(second, &results, mask);
    }
    if let Some(first) = site.dst[0] {
        let results = results.map(|result| result & site.mask);
        frame.set_row(first, &results, mask);
    }
}

/// `mov.b64 d, {a, b}`.
pub fn pack(site: &PackSite, frame: Frame, mask: u32) {
    let mut whole = [0u64; 32];
    for (index, part) in site.parts.iter().enumerate() {
        let Some(part) = part else { continue };
        let row = frame.row(*part);
        let shift = index as u32 * site.bits;
        for lane in 0..32 {
            whole[lane] |= (row[lane] & (u64::MAX >> (64 - site.bits))) << shift;
        }
    }
    frame.set_row(site.whole, &whole, mask);
}

/// `mov.b64 {a, b}, d`.
pub fn unpack(site: &PackSite, frame: Frame, mask: u32) {
    let whole = frame.row(site.whole);
    for (index, part) in site.parts.iter().enumerate() {
        let Some(part) = part else { continue };
        let shift = index as u32 * site.bits;
        let values = whole.map(|value| value >> shift & (u64::MAX >> (64 - site.bits)));
        frame.set_row(*part, &values, mask);
    }
}

/// Reads a value from the rows of a parameter.
pub fn read_rows(site: &RowsSite, frame: Frame, mask: u32) {
    let mut values = [0u64; 32];
    for byte in 0..site.bytes {
        let at = site.offset + byte;
        let row = row_of(site, at);
        // SAFETY: the decoder has checked that the parameter has this row.
        let row = unsafe { *frame.source::<[u32; 32]>(row) };
        for lane in 0..32 {
            values[lane] |= u64::from(row[lane] >> (8 * (at % 4)) & 0xff) << (8 * byte);
        }
    }
    frame.set_row(site.value, &values, mask);
}

/// Writes a value to the rows of a parameter.
pub fn write_rows(site: &RowsSite, frame: Frame, mask: u32) {
    let values = frame.row(site.value);
    for byte in 0..site.bytes {
        let at = site.offset + byte;
        let shift = 8 * (at % 4);
        // SAFETY: the decoder has checked that the parameter has this row.
        let row = unsafe { &mut *frame.target::<[u32; 32]>(row_of(site, at)) };
        for lane in lanes(mask) {
            let value = (values[lane] >> (8 * byte) & 0xff) as u32;
            row[lane] = row[lane] & !(0xff << shift) | value << shift;
        }
    }
}

fn row_of(site: &RowsSite, byte: u32) -> crate::program::instruction::Place {
    crate::program::instruction::Place(site.first.0 + (byte / 4) as i32 * Width::Word.bytes())
}

/// `add.cc` and its family; `carry` has a bit per lane.
pub fn carry(site: &CarrySite, frame: Frame, mask: u32, carry: &mut u32) {
    let rows = site.src.map(|slot| slot.map_or([0; 32], |slot| frame.row(slot)));
    let ones = u128::from(u64::MAX >> (64 - site.bits));
    let mut results = [0u64; 32];
    let mut flags = 0u32;
    for lane in lanes(mask) {
        // A subtraction adds the complement and one: its flag is set where it does not borrow.
        let none = u128::from(site.sum == CarrySum::Sub);
        let flag = if site.carry_in == CarryUse::Yes { u128::from(*carry >> lane & 1) } else { none };
        let [a, b, c] = [rows[0][lane], rows[1][lane], rows[2][lane]].map(u128::from);
        let (left, right) = match site.sum {
            CarrySum::Add => (a, b),
            CarrySum::Sub => (a, b ^ ones),
            CarrySum::MadLo => ((a * b) & ones, c),
            CarrySum::MadHi => (high(rows[0][lane], rows[1][lane], site) & ones, c),
        };
        let sum = left + right + flag;
        results[lane] = (sum & ones) as u64;
        flags |= u32::from(sum > ones) << lane;
    }
    if site.carry_out == CarryUse::Yes {
        *carry = *carry & !mask | flags & mask;
    }
    if let Some(dst) = site.dst {
        frame.set_row(dst, &results, mask);
    }
}

/// The high half of a product.
fn high(a: u64, b: u64, site: &CarrySite) -> u128 {
    if site.signed == Signed::Yes {
        let shift = 64 - site.bits;
        let extend = |value: u64| i128::from(((value << shift) as i64) >> shift);
        (extend(a).wrapping_mul(extend(b)) >> site.bits) as u128
    } else {
        (u128::from(a) * u128::from(b)) >> site.bits
    }
}
