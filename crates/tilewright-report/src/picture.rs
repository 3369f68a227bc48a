//! A picture of the accesses of a line: the lanes of the dearest request of each, on the sectors or banks that they touch. SVG for light
//! and dark pages.

mod draw;

pub(crate) use draw::escaped;
use draw::{Cell, Sheet};
use std::collections::BTreeMap;
use tilewright_arch::memory::WARP_SIZE;
use tilewright_explain::{Access, Execution, Line, Operation, Patterns, Recording, Shape, Space};

/// Bytes of a line of memory, and of a row over all banks.
const LINE_BYTES: i64 = 128;
const SECTOR_BYTES: i64 = 32;
const WORD_BYTES: i64 = 4;
/// Letters of a title.
const LONGEST_TITLE: usize = 78;

/// The picture of the accesses of the line `number`, of all files or of the one whose name ends as `file` says; copies of an access that
/// move the same are drawn once. With `array` only accesses to this array or memory are drawn, such as `A` or `local memory`.
/// `None` for a line that has no such access, or none in the recorded block.
pub fn picture(
    lines: &[Line],
    recording: &Recording,
    file: Option<&str>,
    number: u32,
    array: Option<&str>,
) -> Option<String> {
    let is_line = |line: &&Line| line.line == number && file.is_none_or(|file| line.file.ends_with(file));
    let is_wanted = |access: &&Access| array.is_none_or(|array| access.target() == array);
    let line = lines.iter().filter(is_line).find(|line| !line.accesses.is_empty())?;
    let mut requests: Vec<Request> = Vec::new();
    for access in line.accesses.iter().filter(is_wanted) {
        let request = recording
            .patterns
            .iter()
            .find(|p| p.access == access.id)
            .and_then(|p| Request::dearest(access, p));
        if let Some(request) = request
            && requests.iter().all(|known| known.title() != request.title())
        {
            requests.push(request);
        }
    }
    if requests.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(&shortened(&format!("Line {number}: {}", line.text)));
    requests.iter().for_each(|request| request.draw(&mut sheet));
    Some(sheet.finish())
}

/// One execution by a warp.
struct Request<'a> {
    access: &'a Access,
    shape: &'a Shape,
    /// Bytes from the start of the array, and where in a line that lies.
    base: i64,
    phase: i64,
}

impl<'a> Request<'a> {
    /// The first of those that take the most passes or move the most sectors.
    fn dearest(access: &'a Access, patterns: &'a Patterns) -> Option<Self> {
        let request = |execution: &Execution| {
            let shape = patterns.shapes.get(execution.shape as usize)?;
            Some(Self {
                access,
                shape,
                base: execution.base,
                phase: (-execution.base).rem_euclid(LINE_BYTES),
            })
        };
        // Of equals `max_by_key` takes the last.
        patterns.executions.iter().rev().filter_map(request).max_by_key(Self::cost)
    }

    /// Passes over the banks, or sectors.
    fn cost(&self) -> usize {
        if self.has_passes() { self.rows().into_iter().max().unwrap_or(0) } else { self.sectors().len() }
    }

    /// Whether lanes are served in passes, and not by sectors.
    fn has_passes(&self) -> bool {
        matches!(self.access.space, Space::Shared | Space::Constant)
    }

    /// Active lanes, and the byte in whole lines at which each begins.
    fn lanes(&self) -> Vec<(u32, i64)> {
        let active = (0..WARP_SIZE as u32).filter(|lane| self.shape.active & (1 << lane) != 0);
        active
            .zip(&self.shape.offsets)
            .map(|(lane, &offset)| (lane, self.base + self.phase + offset as i64))
            .collect()
    }

    fn bytes(&self) -> i64 {
        i64::from(self.access.bytes_per_lane.max(1))
    }

    /// The sectors that it moves.
    fn sectors(&self) -> Vec<i64> {
        let of_lane = |(_, byte): (u32, i64)| {
            byte.div_euclid(SECTOR_BYTES)..=(byte + self.bytes() - 1).div_euclid(SECTOR_BYTES)
        };
        let mut sectors: Vec<i64> = self.lanes().into_iter().flat_map(of_lane).collect();
        sectors.sort_unstable();
        sectors.dedup();
        sectors
    }

    /// Bytes that some lane wants.
    fn wanted(&self) -> usize {
        let mut bytes: Vec<i64> =
            self.lanes().into_iter().flat_map(|(_, byte)| byte..byte + self.bytes()).collect();
        bytes.sort_unstable();
        bytes.dedup();
        bytes.len()
    }

    /// The row that serves each active lane of shared memory: its pass, or its turn at an atomic.
    fn rows(&self) -> Vec<usize> {
        if self.access.operation != Operation::Atomic {
            return self.shape.wavefronts.iter().map(|&pass| pass as usize).collect();
        }
        let mut met: BTreeMap<i64, usize> = BTreeMap::new();
        let turn = |(_, byte): (u32, i64)| {
            let turns = met.entry(byte).or_default();
            *turns += 1;
            *turns - 1
        };
        self.lanes().into_iter().map(turn).collect()
    }

    fn title(&self) -> String {
        let what = self.access.describe();
        if self.has_passes() {
            let rows = self.rows().iter().max().map_or(0, |row| row + 1);
            return match (self.access.space, self.access.operation) {
                (_, Operation::Atomic) => format!("{what}: {}", plural(rows, "turn", "turns")),
                (Space::Constant, _) => {
                    format!("{what}: {}, one for each address", plural(rows, "pass", "passes"))
                }
                _ => format!("{what}: {} over the banks", plural(rows, "pass", "passes")),
            };
        }
        let sectors = self.sectors().len();
        let moved = sectors * SECTOR_BYTES as usize;
        format!("{what}: {}, {moved} bytes for {}", plural(sectors, "sector", "sectors"), self.wanted())
    }

    fn draw(&self, sheet: &mut Sheet) {
        sheet.heading(&self.title());
        if self.has_passes() { self.draw_banks(sheet) } else { self.draw_sectors(sheet) }
    }

    fn draw_sectors(&self, sheet: &mut Sheet) {
        let sectors = self.sectors();
        let per_line = LINE_BYTES / SECTOR_BYTES;
        let mut lines: Vec<i64> = sectors.iter().map(|sector| sector.div_euclid(per_line)).collect();
        lines.dedup();
        let row_of = |line: i64| lines.binary_search(&line).unwrap_or(0);
        let labels: Vec<String> =
            lines.iter().map(|line| format!("byte {}", (line * LINE_BYTES - self.phase).max(0))).collect();
        let moved: Vec<(usize, usize)> = sectors
            .iter()
            .map(|sector| (row_of(sector.div_euclid(per_line)), sector.rem_euclid(per_line) as usize))
            .collect();
        let words = self.words(|_, line| row_of(line));
        sheet.sectors(&labels, &moved, &words);
    }

    fn draw_banks(&self, sheet: &mut Sheet) {
        let rows = self.rows();
        let name = if self.access.operation == Operation::Atomic { "turn" } else { "pass" };
        let count = rows.iter().max().map_or(0, |row| row + 1);
        let labels: Vec<String> = (1..=count).map(|row| format!("{name} {row}")).collect();
        let words = self.words(|lane, _| rows.get(lane).copied().unwrap_or(0));
        sheet.banks(&labels, &words);
    }

    /// The words that lanes want, with their row and column, and who wants them. `row` is given the number of the lane among the active
    /// ones, and the line of memory.
    fn words(&self, row: impl Fn(usize, i64) -> usize) -> Vec<Cell> {
        let mut words: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
        for (index, (lane, byte)) in self.lanes().into_iter().enumerate() {
            for word in byte.div_euclid(WORD_BYTES)..=(byte + self.bytes() - 1).div_euclid(WORD_BYTES) {
                let per_line = LINE_BYTES / WORD_BYTES;
                let place = (row(index, word.div_euclid(per_line)), word.rem_euclid(per_line) as usize);
                let lanes = words.entry(place).or_default();
                if !lanes.contains(&lane) {
                    lanes.push(lane);
                }
            }
        }
        words.into_iter().map(|((row, column), lanes)| Cell { row, column, lanes }).collect()
    }
}

/// What fits the width of a picture.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn plural(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}
