//! An instruction that a warp executes.

use super::{
    team::Team,
    warp::{Path, Warp},
    worker::{Launch, Worker},
};
use crate::check::{Actor, FindingKind, Severity, Side, Strength};
use crate::machine::lanes::frame::Frame;
use crate::program::Program;

/// An instruction of a warp: who executes it, and with what.
pub struct Step<'s, 'l> {
    pub worker: &'s mut Worker<'l>,
    pub warp: &'s mut Warp,
    pub team: &'s mut Team,
    /// The registers of its function.
    pub frame: Frame,
    /// The lanes that execute it.
    pub mask: u32,
    pub pc: u32,
}

impl<'s, 'l> Step<'s, 'l> {
    /// What the lanes of a path come to.
    pub fn of_path(worker: &'s mut Worker<'l>, warp: &'s mut Warp, team: &'s mut Team, path: &Path) -> Self {
        // SAFETY: there is room for all frames of a path's level since the call that led to it.
        let frame = unsafe { Frame::new(&mut warp.registers, path.frame, &worker.program.constants) };
        Self { worker, warp, team, frame, mask: path.mask, pc: path.pc }
    }

    /// The same, lent to somebody.
    #[inline(always)]
    pub fn lend(&mut self) -> Step<'_, 'l> {
        Step { worker: self.worker, warp: self.warp, team: self.team, ..*self }
    }

    /// The same of instruction `pc`.
    pub fn at(&mut self, pc: u32) -> Step<'_, 'l> {
        Step { pc, ..self.lend() }
    }

    /// The same of the lanes of `mask`.
    pub fn of(&mut self, mask: u32) -> Step<'_, 'l> {
        Step { mask, ..self.lend() }
    }

    /// The launch.
    #[inline(always)]
    pub fn launch(&self) -> &'l Launch<'l> {
        self.worker.launch
    }

    /// The program.
    #[inline(always)]
    pub fn program(&self) -> &'l Program {
        self.worker.program
    }

    /// How it takes part in races.
    #[inline(always)]
    pub fn actor(&self, strength: Strength) -> Actor {
        Actor { warp: self.warp.index, pc: self.pc, strength }
    }

    /// These lanes, as a side of a finding.
    pub fn side(&self, lanes: u32) -> Side {
        self.team.side(self.warp.index, self.pc, lanes)
    }

    /// Reports something about these lanes.
    pub fn report(
        &mut self,
        kind: FindingKind,
        severity: Severity,
        lanes: u32,
        sentences: impl FnOnce() -> (String, String),
    ) {
        let side = self.side(lanes);
        self.worker.report(kind, severity, side, sentences);
    }
}
