//! Undefined bits that decide something.

use crate::check::Side;
use crate::machine::state::{step::Step, undefined::Bits};
use crate::memory::lanes;

/// What undefined bits decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Where a thread goes on.
    Branch,
    /// Whether an instruction is executed.
    Guard,
    /// Where an access goes.
    Address,
    /// What global memory holds.
    Global,
    /// What an atomic does.
    Atomic,
    /// A barrier: which, for whom, or what it tells all.
    Barrier,
    /// Which lanes exchange values.
    Members,
    /// The size of a copy.
    Copy,
}

impl Decision {
    fn phrase(self) -> &'static str {
        match self {
            Self::Branch => "the value decides a branch",
            Self::Guard => "the value decides whether an instruction is executed",
            Self::Address => "the value decides an address",
            Self::Global => "the value goes to global memory",
            Self::Atomic => "the value goes into an atomic operation",
            Self::Barrier => "the value goes into a barrier",
            Self::Members => "the value decides which lanes exchange values",
            Self::Copy => "the value decides how much is copied",
        }
    }
}

impl Step<'_, '_> {
    /// Reports the sources of those of `bits` that the lanes of `mask` have, which the instruction decides by.
    pub fn decide(&mut self, bits: &Bits, mask: u32, decision: Decision) {
        let pc = self.pc;
        let mut rest = bits.lanes(mask);
        while rest != 0 {
            let number = bits.sources[rest.trailing_zeros() as usize];
            let same = lanes(rest)
                .filter(|&lane| bits.sources[lane] == number)
                .fold(0, |mask, lane| mask | 1 << lane);
            rest &= !same;
            self.team.undefined.sources.used(number, pc);
            let Some(source) = self.team.undefined.sources.get(number) else { continue };
            // Lanes of this warp that have the value from their own load are the ones to name.
            let own = if source.side.warp == self.warp.index { source.side.lanes & same } else { 0 };
            let at = Side { lanes: if own == 0 { source.side.lanes } else { own }, ..source.side };
            let (kind, severity) = (source.kind(), source.severity());
            let place = at
                .pc
                .filter(|&from| self.line(from) != self.line(pc))
                .map_or(String::new(), |_| format!(" at {}", self.line(pc)));
            let source = source.clone();
            self.worker.report(kind, severity, at, || {
                let (what, fix) = source.sentences(at.lanes);
                (format!("{what}; {}{place}", decision.phrase()), fix.into())
            });
        }
    }

    /// How messages call an instruction's line.
    fn line(&self, pc: u32) -> String {
        let origin = self.program().origins[pc as usize];
        self.program()
            .source_line(origin)
            .map_or_else(|| format!("PTX line {}", origin.ptx_line), |line| line.to_string())
    }
}
