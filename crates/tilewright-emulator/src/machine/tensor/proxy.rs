//! Fences between proxies: what threads do with shared memory, and what the asynchronous proxy sees of it.

use crate::check::{Entry, Event, FindingKind, Severity, Side};
use crate::machine::state::{options::Races, step::Step, team::Team, worker::Worker};
use crate::program::instruction::{Op, Rare};

impl Step<'_, '_> {
    /// Reports bytes that the asynchronous proxy reads, and that a thread has written without a fence of its own behind that.
    pub fn check_proxy(&mut self, lane: usize, at: u64, bytes: u32) {
        let is_unfenced = |op: Op, entry: Entry| {
            let is_generic = !matches!(op, Op::Rare(Rare::BulkLoad | Rare::CopyAsync));
            is_generic && !self.team.order.has_proxy_fence(entry)
        };
        let Some(written) = self.worker.unfenced(self.team, at, bytes, is_unfenced) else { return };
        let message = |name: &str| {
            format!(
                "reads `{name}` through the asynchronous proxy, which need not see what a thread has stored"
            )
        };
        let fix = "let every thread that stores there execute fence.proxy.async.shared::cta behind its stores, before the \
                   barrier that the reader waits at";
        // By the letter it is the writer's fence that counts; published kernels let the reader execute it behind the barrier.
        let severity = match self.team.order.is_fenced_by_reader(written, self.warp.index) {
            true => Severity::Warning,
            false => Severity::Error,
        };
        let sides = (self.side(1 << lane), self.team.earlier(written));
        self.worker.report_unfenced(severity, sides, at, message, fix);
    }

    /// Reports an mbarrier of a bulk copy whose initialisation the asynchronous proxy need not see.
    pub fn check_barrier(&mut self, lane: usize, at: u64) {
        let is_unfenced = |op: Op, entry: Entry| {
            matches!(op, Op::Rare(Rare::Mbarrier)) && !self.team.order.has_init_fence(entry)
        };
        let Some(written) = self.worker.unfenced(self.team, at, 8, is_unfenced) else { return };
        let message = |name: &str| {
            format!(
                "completes at the mbarrier `{name}`, whose initialisation the asynchronous proxy need not see"
            )
        };
        let fix = "let the thread that initialises it execute fence.mbarrier_init.release.cluster behind that, before the \
                   barrier that the others wait at";
        // A barrier of the block is enough on today's hardware, and CUDA's own examples have no more.
        let sides = (self.side(1 << lane), self.team.earlier(written));
        self.worker.report_unfenced(Severity::Warning, sides, at, message, fix);
    }
}

impl Worker<'_> {
    /// Reports bytes of the own block that a copy overwrites, and that a thread has read without a fence of its own behind that: only where
    /// it is asked for, since much published code does so.
    pub fn check_overwritten(&mut self, team: &Team, at: Side, address: u64, bytes: u32) {
        if self.launch.races != Races::Strict {
            return;
        }
        let (Some(shadow), Some(offset)) = (&team.shadow, self.offset_of(address)) else { return };
        let is_generic = |pc: u32| {
            let op = self.program.code[pc as usize].op;
            !matches!(op, Op::Rare(Rare::BulkLoad | Rare::BulkStore | Rare::Wgmma))
        };
        let is_unfenced =
            |read: &Entry| read.pc().is_some_and(is_generic) && !team.order.has_proxy_fence(*read);
        let Some(read) = shadow.readers(offset, bytes).find(is_unfenced) else { return };
        let message = |name: &str| {
            format!(
                "overwrites `{name}` through the asynchronous proxy, which need not wait for what a thread has read there"
            )
        };
        let fix = "let every thread that reads there execute fence.proxy.async.shared::cta behind its loads, before the \
                   barrier that the issuing thread waits at";
        self.report_unfenced(Severity::Warning, (at, team.earlier(read)), address, message, fix);
    }

    /// The last plain store to some of these bytes that is as `is_unfenced` says.
    fn unfenced(
        &self,
        team: &Team,
        at: u64,
        bytes: u32,
        is_unfenced: impl Fn(Op, Entry) -> bool,
    ) -> Option<Entry> {
        let (shadow, offset) = (team.shadow.as_ref()?, self.offset_of(at)?);
        let op = |entry: &Entry| entry.pc().map(|pc| self.program.code[pc as usize].op);
        shadow.writers(offset, bytes).find(|entry| op(entry).is_some_and(|op| is_unfenced(op, *entry)))
    }

    fn report_unfenced(
        &mut self,
        severity: Severity,
        (at, with): (Side, Side),
        address: u64,
        message: impl Fn(&str) -> String,
        fix: &str,
    ) {
        let message = message(self.launch.shared.name(address));
        let (kind, naming) = (FindingKind::ProxyFence, self.naming());
        self.findings.report(naming, (kind, at.pc, with.pc), || {
            let (with, fix) = (Some(with), fix.into());
            Event { kind, severity, at, with, message, fix, race: None }
        });
    }
}
