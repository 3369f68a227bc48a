//! What happens at the barriers of a block (`mbarrier`), in the order in which the emulator executes it.

use crate::model::mbarrier_name;
use tilewright_emulator::{EventKind, ObservedEvent};

/// Events that are kept.
const MOST_EVENTS: usize = 600;

/// What happens at the barriers of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Variable and bytes from its start, in the order of appearance.
    pub barriers: Vec<(String, u64)>,
    /// The first ones, in the order in which they were executed.
    pub events: Vec<TimelineEvent>,
    /// How many came after these.
    pub left_out: u64,
}

/// An event of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineEvent {
    /// What happens.
    pub kind: EventKind,
    /// The warp that does it.
    pub warp: u32,
    /// The place among the barriers; `None` for products.
    pub barrier: Option<usize>,
}

impl Timeline {
    /// Takes an event down; lanes of a warp that do the same are one.
    pub fn record(&mut self, event: &ObservedEvent<'_>) {
        let barrier = (!event.variable.is_empty()).then(|| self.barrier(event.variable, event.offset));
        let event = TimelineEvent { kind: event.kind, warp: event.warp, barrier };
        if self.events.last() == Some(&event) && matches!(event.kind, EventKind::Arrives | EventKind::Passes)
        {
            return;
        }
        if self.events.len() == MOST_EVENTS {
            self.left_out += 1;
            return;
        }
        self.events.push(event);
    }

    fn barrier(&mut self, variable: &str, offset: u64) -> usize {
        let known = self.barriers.iter().position(|(name, at)| (name.as_str(), *at) == (variable, offset));
        known.unwrap_or_else(|| {
            self.barriers.push((variable.to_owned(), offset));
            self.barriers.len() - 1
        })
    }

    /// What the source calls a barrier: `full[1]` for the second one of a variable.
    ///
    /// # Panics
    /// If there is no such barrier.
    pub fn name(&self, barrier: usize) -> String {
        let (variable, offset) = &self.barriers[barrier];
        let is_alone = self.barriers.iter().filter(|(other, _)| other == variable).count() == 1;
        mbarrier_name(variable, *offset, is_alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(all: &[(EventKind, u32, u64)]) -> Timeline {
        let mut timeline = Timeline::default();
        for &(kind, warp, offset) in all {
            timeline.record(&ObservedEvent { block: [0; 3], warp, kind, variable: "full", offset });
        }
        timeline
    }

    #[test]
    fn lanes_that_do_the_same_are_one_event() {
        use EventKind::{Arrives, Passes};
        let timeline = recorded(&[(Arrives, 0, 0), (Passes, 4, 8), (Passes, 4, 8), (Passes, 5, 8)]);
        assert_eq!(timeline.events.len(), 3);
        assert_eq!([0, 1].map(|barrier| timeline.name(barrier)), ["full[0]", "full[1]"]);
    }

    #[test]
    fn no_more_are_kept_than_can_be_seen() {
        let all: Vec<_> = (0..1000).map(|turn| (EventKind::Copies, turn % 2, 0)).collect();
        let timeline = recorded(&all);
        assert_eq!((timeline.events.len(), timeline.left_out), (MOST_EVENTS, 400));
    }
}
