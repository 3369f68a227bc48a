//! Undefined bits of values that lanes exchange.

use crate::machine::state::{
    source::{Source, What},
    step::Step,
    undefined::{Bits, Undefined},
};
use crate::memory::lanes;
use crate::program::instruction::{Slot, VoteMode, WarpMode, WarpSite};

impl Step<'_, '_> {
    /// A shuffle, which takes values as `from` says. Lanes of `absent` read one that takes no part: what they get has no value. It is before
    /// the values move.
    pub fn shuffle_undefined(&mut self, site: &WarpSite, from: &[u32; 32], absent: u32) {
        let Self { frame, mask, .. } = *self;
        let offset = frame.offset(&self.warp.registers);
        let side = self.side(absent);
        let shadow = self.warp.shadow(self.program());
        let given = shadow.row(offset, site.value);
        let numbers =
            [site.lane, site.clamp].map(|slot| slot.map_or(Bits::NONE, |slot| shadow.row(offset, slot)));
        let mut bits = Bits::NONE;
        for lane in lanes(mask) {
            let partner = from[lane] as usize;
            bits.add(lane, given.bits[partner], given.sources[partner]);
            for number in numbers.iter().filter(|number| number.bits[lane] != 0) {
                bits.add(lane, u64::MAX, number.sources[lane]);
            }
        }
        if absent != 0 {
            let source = self.team.undefined.sources.number(Source { what: What::Lane, side });
            lanes(absent).for_each(|lane| bits.add(lane, u64::MAX, source));
        }
        if let Some(dst) = site.dst {
            shadow.set(offset, dst, &bits, mask);
        }
        if let Some(valid) = site.valid {
            let mut open = Bits::NONE;
            for number in &numbers {
                lanes(number.lanes(mask)).for_each(|lane| open.add(lane, 1, number.sources[lane]));
            }
            shadow.set(offset, valid, &open, mask);
        }
    }

    /// Any other exchange: the result of all hangs on the undefined bits of each, but for votes that are decided without them.
    pub fn exchange_undefined(&mut self, site: &WarpSite) {
        let Self { frame, mask, .. } = *self;
        let offset = frame.offset(&self.warp.registers);
        let Some(shadow) = &mut self.warp.undefined else { return };
        let given =
            if matches!(site.mode, WarpMode::Elect) { Bits::NONE } else { shadow.row(offset, site.value) };
        let open = given.lanes(mask);
        let result = match site.mode {
            WarpMode::Vote(mode) => {
                let votes = frame.predicate(site.value.place) ^ site.flip;
                let (yes, no) = (votes & mask & !open, !votes & mask & !open);
                let is_closed = match mode {
                    VoteMode::All => no != 0,
                    VoteMode::Any => yes != 0,
                    VoteMode::Uniform => yes != 0 && no != 0,
                    VoteMode::Ballot => false,
                };
                match mode {
                    VoteMode::Ballot => u64::from(open),
                    _ => u64::from(open != 0 && !is_closed),
                }
            }
            _ if open != 0 => u64::MAX,
            _ => 0,
        };
        let mut bits = Bits::NONE;
        let source = given.sources[open.trailing_zeros() as usize & 31];
        lanes(mask).for_each(|lane| bits.add(lane, result, source));
        let set = |slot: Option<Slot>, shadow: &mut Undefined| {
            if let Some(slot) = slot {
                shadow.set(offset, slot, &bits, mask);
            }
        };
        set(site.dst, shadow);
        set(site.valid, shadow);
    }
}
