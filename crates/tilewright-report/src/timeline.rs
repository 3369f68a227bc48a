//! What happens at the barriers of a block (`mbarrier`), in the order in which the emulator executes it: how far the ring of stages is, who
//! waits for what, which copies and products are on their way. SVG for light and dark pages.

use crate::picture::escaped;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use tilewright_explain::{EventKind, Timeline};

/// The picture; `None` where nothing happened.
pub fn timeline_svg(timeline: &Timeline) -> Option<String> {
    (!timeline.events.is_empty()).then(|| Picture(timeline).to_svg())
}

/// Draws a timeline.
struct Picture<'a>(&'a Timeline);

impl Picture<'_> {
    fn to_svg(&self) -> String {
        let mut rows: Vec<(String, Vec<Bar>)> = Vec::new();
        let mut barriers: Vec<usize> = (0..self.0.barriers.len()).collect();
        barriers.sort_by_key(|&barrier| &self.0.barriers[barrier]);
        rows.extend(barriers.iter().map(|&barrier| (self.0.name(barrier), self.bars_of_barrier(barrier))));
        let warps: BTreeSet<u32> = self.0.events.iter().map(|event| event.warp).collect();
        let of_warp = |&warp: &u32| (format!("warp {warp}"), self.bars_of_warp(warp));
        rows.extend(warps.iter().map(of_warp).filter(|(_, bars)| !bars.is_empty()));
        self.drawn(&rows)
    }

    /// Phases, copies on their way, and arrivals.
    fn bars_of_barrier(&self, barrier: usize) -> Vec<Bar> {
        // Those of phases are drawn first, below the others.
        let (mut phases, mut bars, mut copies) = (Vec::new(), Vec::new(), VecDeque::new());
        let (mut phase, mut began) = (0, 0);
        let mine = self.0.events.iter().enumerate().filter(|(_, event)| event.barrier == Some(barrier));
        for (at, event) in mine {
            match event.kind {
                EventKind::Ends => {
                    phases.push(Bar::phase(phase, began, at));
                    (phase, began) = (phase + 1, at);
                }
                EventKind::Copies => copies.push_back(at),
                EventKind::Lands => {
                    let from = copies.pop_front().unwrap_or(at);
                    let words = format!("a copy by warp {}", event.warp);
                    bars.push(Bar { class: "copy", from, to: at, words });
                }
                EventKind::Arrives => {
                    let words = format!("warp {} arrives", event.warp);
                    bars.push(Bar { class: "arrival", from: at, to: at, words });
                }
                _ => {}
            }
        }
        let end = self.0.events.len();
        phases.push(Bar::phase(phase, began, end));
        phases.extend(bars);
        let words = || "a copy that has not come".to_owned();
        phases.extend(copies.into_iter().map(|from| Bar { class: "copy", from, to: end, words: words() }));
        phases
    }

    /// Waits, and products on their way.
    fn bars_of_warp(&self, warp: u32) -> Vec<Bar> {
        let (mut bars, mut waits, mut products) = (Vec::new(), BTreeMap::new(), VecDeque::new());
        let mine = self.0.events.iter().enumerate().filter(|(_, event)| event.warp == warp);
        for (at, event) in mine {
            match (event.kind, event.barrier) {
                (EventKind::Waits, Some(barrier)) => drop(waits.insert(barrier, at)),
                (EventKind::Passes, Some(barrier)) => {
                    let from = waits.remove(&barrier).unwrap_or(at);
                    let words = format!("waits at {}", self.0.name(barrier));
                    bars.push(Bar { class: "wait", from, to: at, words });
                }
                (EventKind::Multiplies, _) => products.push_back(at),
                (EventKind::Collects, _) => {
                    let from = products.pop_front().unwrap_or(at);
                    bars.push(Bar { class: "product", from, to: at, words: "products on their way".into() });
                }
                _ => {}
            }
        }
        let end = self.0.events.len();
        let open = waits.into_iter().map(|(barrier, from)| Bar {
            class: "wait",
            from,
            to: end,
            words: format!("still waits at {}", self.0.name(barrier)),
        });
        bars.extend(open);
        bars
    }

    fn drawn(&self, rows: &[(String, Vec<Bar>)]) -> String {
        let letters = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let left = 20.0 + 6.2 * letters as f64;
        let step = (900.0 / self.0.events.len() as f64).clamp(1.5, 14.0);
        let (width, bottom) =
            (left + step * self.0.events.len() as f64 + 12.0, TOP + ROW * rows.len() as f64);
        let mut body = String::new();
        for (index, (name, bars)) in rows.iter().enumerate() {
            let top = TOP + ROW * index as f64;
            let _ = writeln!(
                body,
                "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                left - 8.0,
                top + 12.0,
                escaped(name)
            );
            for bar in bars {
                let x = left + step * bar.from as f64;
                let _ = writeln!(body, "{}", bar.drawn(x, step * (bar.to - bar.from) as f64, top));
            }
        }
        let mut x = left;
        for (class, words) in LEGEND {
            let bar = Bar { class, from: 0, to: 0, words: String::new() };
            let _ = writeln!(body, "{}", bar.drawn(x, 14.0, bottom + 10.0));
            let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{:.1}\">{words}</text>", x + 20.0, bottom + 22.0);
            x += 32.0 + 6.2 * words.len() as f64;
        }
        let more = if self.0.left_out > 0 {
            format!("; {} more events are left out", self.0.left_out)
        } else {
            String::new()
        };
        let _ = writeln!(
            body,
            "<text x=\"6\" y=\"{:.1}\">left to right in the order in which the emulator executes the block: no times{more}</text>",
            bottom + 44.0
        );
        let (width, height) = (width.max(x), bottom + 54.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tilewright-timeline\" role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>Barriers over time</title>\n<style>\n{STYLE}</style>\n\
             <rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n\
             <text class=\"title\" x=\"6\" y=\"18\">The barriers in shared memory, and the warps of block (0,0,0)</text>\n{body}</svg>\n"
        )
    }
}

/// Something that lasts.
struct Bar {
    class: &'static str,
    from: usize,
    to: usize,
    words: String,
}

impl Bar {
    fn phase(number: usize, from: usize, to: usize) -> Self {
        Self {
            class: if usize::is_multiple_of(number, 2) { "even" } else { "odd" },
            from,
            to,
            words: format!("phase {number}"),
        }
    }

    fn drawn(&self, x: f64, width: f64, top: f64) -> String {
        // Copies and arrivals lie within the bar of their phase.
        let (inset, height) = match self.class {
            "copy" => (9.0, 4.0),
            "arrival" => (2.0, 5.0),
            _ => (2.0, 12.0),
        };
        let words = if self.words.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", escaped(&self.words))
        };
        format!(
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height}\">{words}</rect>",
            self.class,
            top + inset,
            width.max(1.2)
        )
    }
}

const TOP: f64 = 30.0;
const ROW: f64 = 16.0;

const LEGEND: [(&str, &str); 6] = [
    ("even", "phase with parity 0"),
    ("odd", "with parity 1"),
    ("copy", "copy"),
    ("arrival", "arrival"),
    ("wait", "wait"),
    ("product", "products"),
];

/// Rules of both themes; what ignores media queries shows the light one.
const STYLE: &str = "\
.tilewright-timeline text { font: 10px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #525b66 }
.tilewright-timeline .title { font-size: 13px; fill: #1c2128 }
.tilewright-timeline .name { text-anchor: end }
.tilewright-timeline .page { fill: #ffffff }
.tilewright-timeline .even { fill: #d9e6f5 }
.tilewright-timeline .odd { fill: #a9c6e8 }
.tilewright-timeline .copy { fill: #15457a }
.tilewright-timeline .arrival { fill: #b3263a }
.tilewright-timeline .wait { fill: #f0c9a0 }
.tilewright-timeline .product { fill: #2f7d4f }
@media (prefers-color-scheme: dark) {
.tilewright-timeline text { fill: #a3adb8 }
.tilewright-timeline .title { fill: #e6e9ee }
.tilewright-timeline .page { fill: #15181d }
.tilewright-timeline .even { fill: #24384f }
.tilewright-timeline .odd { fill: #3a5a80 }
.tilewright-timeline .copy { fill: #9ccfff }
.tilewright-timeline .arrival { fill: #ff8a94 }
.tilewright-timeline .wait { fill: #8a5a28 }
.tilewright-timeline .product { fill: #6fce98 }
}
";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tilewright_emulator::ObservedEvent;

    fn event(kind: EventKind, warp: u32, offset: u64) -> ObservedEvent<'static> {
        let variable = if matches!(kind, EventKind::Multiplies | EventKind::Collects) { "" } else { "full" };
        ObservedEvent { block: [0; 3], warp, kind, variable, offset }
    }

    #[test]
    fn phases_copies_and_waits_last() {
        use EventKind::*;
        assert_eq!(timeline_svg(&Timeline::default()), None);
        let mut timeline = Timeline::default();
        let all = [
            (Arrives, 0, 0),
            (Copies, 0, 0),
            (Waits, 4, 0),
            (Waits, 5, 8),
            (Lands, 0, 0),
            (Ends, 0, 0),
            (Passes, 4, 0),
            (Passes, 4, 0),
            (Multiplies, 4, 0),
            (Collects, 4, 0),
        ];
        all.iter().for_each(|&(kind, warp, offset)| timeline.record(&event(kind, warp, offset)));
        let bars =
            |bars: Vec<Bar>| bars.into_iter().map(|bar| (bar.class, bar.from, bar.to)).collect::<Vec<_>>();
        let picture = Picture(&timeline);
        let first = bars(picture.bars_of_barrier(0));
        assert_eq!(first, [("even", 0, 5), ("odd", 5, 9), ("arrival", 0, 0), ("copy", 1, 4)]);
        assert_eq!(bars(picture.bars_of_warp(4)), [("wait", 2, 6), ("product", 7, 8)]);
        assert_eq!(bars(picture.bars_of_warp(5)), [("wait", 3, 9)]);
        let svg = timeline_svg(&timeline).unwrap();
        let said =
            ["full[0]", "full[1]", "warp 4", "<title>waits at full[0]</title>", "still waits at full[1]"];
        for part in said.into_iter().chain(["class=\"copy\"", "class=\"product\""]) {
            assert!(svg.contains(part), "{part}");
        }
    }

    #[test]
    fn events_that_were_left_out_are_said() {
        let mut timeline = Timeline::default();
        (0..1000).for_each(|turn| timeline.record(&event(EventKind::Copies, turn % 2, 0)));
        assert!(timeline_svg(&timeline).unwrap().contains("400 more events are left out"));
    }
}
