//! Who arrives and waits at the barriers in shared memory.

use super::{BOLD, columns::table, grouped, nonzero};
use tilewright_explain::{Explanation, Mbarrier, MbarrierUse};

/// A row for each line that uses a barrier; neighbours that are used alike, as the stages of a ring are, are one.
pub fn mbarriers(e: &Explanation, width: usize) -> String {
    let mut groups: Vec<(&Mbarrier, &Mbarrier)> = Vec::new();
    for barrier in &e.totals.mbarriers {
        match groups.last_mut() {
            Some((first, last)) if is_alike(first, barrier) => *last = barrier,
            _ => groups.push((barrier, barrier)),
        }
    }
    let rows: Vec<[String; 6]> = groups.iter().flat_map(|(first, last)| rows_of(first, last)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = ["barrier", "at it", "line", "times", "in vain", "bytes"].map(String::from);
    format!("{BOLD}mbarriers{BOLD:#}  in shared memory, over all blocks\n{}", table(&head, &rows, width))
}

/// Whether the same happens at both, but for how often somebody looks.
fn is_alike(one: &Mbarrier, other: &Mbarrier) -> bool {
    let variable = |barrier: &Mbarrier| barrier.name.split(['[', '+']).next().map(str::to_owned);
    let same =
        |a: &MbarrierUse, b: &MbarrierUse| MbarrierUse { looks_in_vain: b.looks_in_vain, ..a.clone() } == *b;
    (variable(one), one.phases, one.uses.len()) == (variable(other), other.phases, other.uses.len())
        && one.uses.iter().zip(&other.uses).all(|(a, b)| same(a, b))
}

fn rows_of(first: &Mbarrier, last: &Mbarrier) -> Vec<[String; 6]> {
    let name = match first.name == last.name {
        true => first.name.clone(),
        false => {
            let index = last.name.split_once(['[', '+']).map_or("", |(_, index)| index);
            format!("{} to {}", first.name.trim_end_matches(']'), index.trim())
        }
    };
    let phases =
        if first.phases == 1 { "1 phase".to_owned() } else { format!("{} phases", grouped(first.phases)) };
    let mut rows = vec![[name, phases, String::new(), String::new(), String::new(), String::new()]];
    for one in &first.uses {
        let line = one.line.map_or_else(|| format!("PTX {}", one.ptx_line), |line| line.to_string());
        let row = |what: &str, times: u64, in_vain: u64, bytes: u64| {
            let numbers = [times, in_vain, bytes].map(|number| nonzero(number).unwrap_or_default());
            let [times, in_vain, bytes] = numbers;
            [String::new(), what.to_owned(), line.clone(), times, in_vain, bytes]
        };
        for (what, times, in_vain, bytes) in [
            ("arrivals", one.arrivals, 0, 0),
            ("waits", one.waits, one.looks_in_vain, 0),
            ("copies", one.copies, 0, one.bytes),
        ] {
            if times + in_vain > 0 {
                rows.push(row(what, times, in_vain, bytes));
            }
        }
    }
    rows
}
