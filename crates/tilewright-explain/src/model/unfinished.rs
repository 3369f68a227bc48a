//! A launch that was ended before its time: nothing was found wrong with it, and nothing right.

use serde::Serialize;
use tilewright_core::{Hint, Setting};

/// What ended a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The limit of time.
    TimeLimit,
    /// The limit of warp instructions.
    StepLimit,
    /// Somebody asked for it.
    Interrupted,
}

/// How far a launch was when it was ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// What ended it.
    pub reason: Ending,
    /// Blocks that had come to their end.
    pub blocks_done: u64,
    /// All blocks.
    pub blocks: u64,
    /// What lets it come to its end, in the words of who asked for the launch.
    #[serde(skip)]
    pub hint: String,
}

impl Ending {
    /// What lets a launch come to its end that was ended by this.
    pub fn hint(self) -> Hint {
        let smaller = Hint::from("take a smaller grid");
        match self {
            Self::TimeLimit => {
                smaller.also(Hint::from("or give it more seconds with ").set(Setting::MaxTime))
            }
            Self::StepLimit => smaller.also(Hint::from("or give it more steps with ").set(Setting::MaxSteps)),
            Self::Interrupted => "let it run to its end, or take a smaller grid".into(),
        }
    }
}

impl Unfinished {
    /// `the limit of time was met at 3 % of the blocks, 12 of 400`.
    pub fn describe(&self) -> String {
        let what = match self.reason {
            Ending::TimeLimit => "the limit of time was met",
            Ending::StepLimit => "the limit of steps was met",
            Ending::Interrupted => "it was interrupted",
        };
        format!("{what} at {} of the blocks, {} of {}", self.share(), self.blocks_done, self.blocks)
    }

    /// The part of the blocks, in whole percent.
    fn share(&self) -> String {
        match 100 * u128::from(self.blocks_done) / u128::from(self.blocks.max(1)) {
            0 if self.blocks_done > 0 => "less than 1 %".into(),
            percent => format!("{percent} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_far_it_was() {
        let at = |blocks_done, blocks| {
            let reason = Ending::TimeLimit;
            Unfinished { reason, blocks_done, blocks, hint: reason.hint().to_string() }.describe()
        };
        assert_eq!(at(12, 400), "the limit of time was met at 3 % of the blocks, 12 of 400");
        assert!(at(0, 1).contains("at 0 % of the blocks, 0 of 1"));
        assert!(at(3, 400).contains("at less than 1 % of the blocks, 3 of 400"));
    }
}
