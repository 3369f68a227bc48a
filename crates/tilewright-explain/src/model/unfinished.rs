//! A launch that was ended before its time: nothing was found wrong with it, and nothing right.

use serde::Serialize;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// What ended it.
    pub reason: Ending,
    /// Blocks that had come to their end.
    pub blocks_done: u64,
    /// All blocks.
    pub blocks: u64,
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

    /// What lets it come to its end.
    pub fn hint(&self) -> &'static str {
        match self.reason {
            Ending::TimeLimit => {
                "--max-time, or max-time of a manifest, gives it more seconds; or take a smaller grid"
            }
            Ending::StepLimit => {
                "--max-steps, or max-steps of a manifest, gives it more steps; or take a smaller grid"
            }
            Ending::Interrupted => "let it run to its end, or take a smaller grid",
        }
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
        let at =
            |blocks_done, blocks| Unfinished { reason: Ending::TimeLimit, blocks_done, blocks }.describe();
        assert_eq!(at(12, 400), "the limit of time was met at 3 % of the blocks, 12 of 400");
        assert!(at(0, 1).contains("at 0 % of the blocks, 0 of 1"));
        assert!(at(3, 400).contains("at less than 1 % of the blocks, 3 of 400"));
    }
}
