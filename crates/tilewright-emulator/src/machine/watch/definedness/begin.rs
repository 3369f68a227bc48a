//! Where the shadow of a warp comes from, and when it goes.

use crate::check::Side;
use crate::machine::{
    lanes::frame::Frame,
    state::{
        source::{Source, What},
        team::Team,
        undefined::{Bits, Undefined},
        warp::Warp,
    },
};
use crate::memory::lanes;
use crate::program::{Function, Program, instruction::Slot};

impl Warp {
    /// The shadow, which from now on there is.
    pub fn shadow(&mut self, program: &Program) -> &mut Undefined {
        let registers = self.registers.len();
        let new = || Box::new(Undefined::new(registers, program.constants.len()));
        let undefined = self.undefined.get_or_insert_with(new);
        undefined.grow(registers);
        undefined
    }

    /// Lets go of a shadow that has nothing to say, and makes one where the block's shared memory holds what has no value.
    pub fn settle_undefined(&mut self, program: &Program, team: &Team) {
        if !team.undefined.is_none() {
            self.shadow(program);
        } else if self.undefined.as_ref().is_some_and(|undefined| undefined.is_none()) {
            self.undefined = None;
        }
    }

    /// Bits of a register in `frame` that have no value, beside those that have none already.
    pub fn add_undefined(&mut self, program: &Program, frame: Frame, slot: Slot, bits: &Bits, mask: u32) {
        if bits.lanes(mask) != 0 {
            let offset = frame.offset(&self.registers);
            self.shadow(program).add(offset, slot, bits, mask);
        }
    }
}

/// The lanes of `mask` begin `function`, whose frame is at byte `offset`: what it may read before it writes has no value.
pub fn begin_undefined(
    program: &Program,
    function: &Function,
    warp: &mut Warp,
    team: &mut Team,
    offset: u32,
    mask: u32,
) {
    for &slot in &function.unwritten {
        let side = Side { pc: None, block: team.number, warp: warp.index, lanes: mask };
        let source = team.undefined.sources.number(Source { what: What::Register, side });
        let mut bits = Bits::NONE;
        lanes(mask).for_each(|lane| bits.add(lane, u64::MAX, source));
        warp.shadow(program).set(offset, slot, &bits, mask);
    }
}
