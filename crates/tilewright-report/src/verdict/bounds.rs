//! What bounds a launch, in sentences.

use super::{percent, short};
use tilewright_arch::Part;
use tilewright_explain::{Bound, Explanation, LineBound, PartBound};

/// A part that takes less than this of the bound is not said to be next.
const NEXT: f64 = 0.02;
/// A line that has less than this of its part is one of several.
const MOST: f64 = 0.5;
/// Arithmetic that is busy for less of the time than this waits for something else.
const WAITS: f64 = 0.95;

/// What takes longest, which line asks for it, and what comes next.
pub fn said(e: &Explanation) -> Vec<String> {
    let Some(b) = &e.bound else { return Vec::new() };
    let busiest = b.part(b.part).filter(|part| part.part != Part::Launch && part.cycles > 0.0);
    let Some(busiest) = busiest else { return Vec::new() };
    let line = busiest.lines.first().filter(|line| line.share >= MOST);
    let mut first = format!(
        "A multiprocessor takes at least **{} cycles** for each {}: the {}{}.",
        short(busiest.cycles_per_work),
        b.work.each(),
        busiest.title,
        line.map_or(String::new(), |line| format!(", {}", of_line(e, line, busiest)))
    );
    if busiest.part == Part::L1Data && line.is_some_and(|line| line.wants_one_bank) {
        first += " All lanes want the same bank: rows are a multiple of 128 bytes apart.";
    }
    if let Some(next) = next(b) {
        first += &format!(" Next: the {}, {}.", next.title, cycles(next.cycles_per_work));
    }
    let mut said = vec![first];
    if let Some(share) = b.peak_share.filter(|&share| share < WAITS) {
        said.push(format!(
            "The {} alone takes {}, and waits: at most **{}** of the peak can be reached.",
            b.work.name,
            cycles(share * b.cycles_per_work),
            percent(share)
        ));
    }
    said
}

/// The part that would bound if the first did not.
fn next(b: &Bound) -> Option<&PartBound> {
    b.parts
        .iter()
        .find(|part| part.part != b.part && part.part != Part::Launch)
        .filter(|part| b.part(b.part).is_some_and(|busiest| part.cycles > NEXT * busiest.cycles))
}

/// `line 15, load of A`, and how much of it that is.
fn of_line(e: &Explanation, line: &LineBound, part: &PartBound) -> String {
    let place = super::numbered(e, &line.file, line.line);
    let share = if line.share > 0.995 {
        String::new()
    } else {
        format!(" ({} of {})", short(line.cycles_per_work), short(part.cycles_per_work))
    };
    format!("line {place}, {}{share}", line.what)
}

fn cycles(n: f64) -> String {
    let text = short(n);
    if text == "1" { "1 cycle".into() } else { format!("{text} cycles") }
}

/// How the bound moves from one launch to another.
pub fn moved(a: &Explanation, b: &Explanation) -> Option<String> {
    let (x, y) = (a.bound.as_ref()?, b.bound.as_ref()?);
    if x.work.name != y.work.name || x.cycles_per_work <= 0.0 || y.cycles_per_work <= 0.0 {
        return None;
    }
    let factor = x.cycles_per_work / y.cycles_per_work;
    let factor = format!("{} times", short(factor.max(1.0 / factor)));
    let [first, second] = [x.part, y.part].map(Part::title);
    let ways = if x.part == y.part {
        format!("both by the {first}")
    } else {
        format!("from the {first} to the {second}")
    };
    Some(format!(
        "The bound moves from {} to {} for each {} ({factor}), {ways}.",
        cycles(x.cycles_per_work),
        cycles(y.cycles_per_work),
        x.work.each()
    ))
}
