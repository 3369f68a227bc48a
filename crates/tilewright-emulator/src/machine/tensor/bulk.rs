//! Bulk copies are issued and waited for.
//!
//! A copy that tells an mbarrier is done when somebody waits there, one of a group when its thread waits for the group: as late as is
//! legal, or at once, as [`Schedule`] says.

use crate::check::{FindingKind, Mode, Severity};
use crate::machine::{
    lanes::addresses::placed,
    state::{
        observer::EventKind,
        options::Schedule,
        step::Step,
        team::Team,
        transfer::{Far, Transfer},
        warp::{Path, Warp},
        worker::Worker,
    },
    watch::faults::{Fault, Faults},
};
use crate::memory::{Addresses, lanes};
use crate::program::{
    address,
    instruction::{AtomicOp, BulkSite, Direction, Extent, Space},
};
use crate::tensor_map::{ElementType, IllegalStart, RANK, Row, Swizzle, TensorMap, Traversal};

impl Step<'_, '_> {
    /// `cp.async.bulk` and its kin: each lane issues a copy of its own.
    pub fn bulk(&mut self, index: u32) {
        let Self { frame, mask, .. } = *self;
        let program = self.program();
        let site = &program.sites.bulks[index as usize];
        let ((shared, _), far) = (placed(&site.shared, frame, mask), placed(&site.far, frame, mask));
        let barrier = site.barrier.as_ref().map(|barrier| placed(barrier, frame, mask).0);
        let mut faults = Faults::default();
        let mut stores: Vec<Transfer> = Vec::new();
        for lane in lanes(mask) {
            let Some(mut transfer) = self.transfer(site, (&shared, &far), lane, &mut faults) else {
                continue;
            };
            self.worker.count_bulk(site, &transfer);
            if !transfer.is_load && mask.count_ones() > 1 {
                transfer.repeats = stores.iter().any(|store| transfer.is_same_store(store));
                if !transfer.repeats {
                    stores.push(transfer.clone());
                }
            }
            let ranks = site.blocks.map_or(0, |slot| frame.lane(slot, lane) as u32);
            for rank in lanes(ranks) {
                let of_rank = |at: u64| address::by_rank(at, rank as u32);
                let barrier = barrier.as_ref().map(|barrier| of_rank(barrier.at[lane]));
                let copy = Transfer { shared: of_rank(transfer.shared), barrier, ..transfer.clone() };
                self.issue_bulk(copy);
            }
            if site.blocks.is_none() {
                let barrier = barrier.as_ref().map(|barrier| self.team.ranked(barrier.at[lane]));
                self.issue_bulk(Transfer { barrier, ..transfer });
            }
        }
        self.report_faults(&faults, 16, Mode::Read);
    }

    /// What a lane's copy moves; `None` after a fault.
    fn transfer(
        &mut self,
        site: &BulkSite,
        (shared, far): (&Addresses, &(Addresses, Space)),
        lane: usize,
        faults: &mut Faults,
    ) -> Option<Transfer> {
        let Self { frame, pc, .. } = *self;
        let (shared, far, far_space) = (self.team.ranked(shared.at[lane]), far.0.at[lane], far.1);
        let is_load = site.direction == Direction::Load;
        let base = Transfer {
            block: self.team.number,
            warp: self.warp.index,
            lane: lane as u8,
            pc,
            is_load,
            shared,
            far: Far::Global,
            rows: Vec::new(),
            swizzle: Swizzle::None,
            element: None,
            fill: 0,
            reduction: site.reduction.map(|reduction| (reduction.op, reduction.ty)),
            barrier: None,
            stamp: 0,
            passed_by: 0,
            repeats: false,
            before: Vec::new(),
        };
        match &site.extent {
            Extent::Bytes(size) => {
                let bytes = frame.lane(*size, lane) as u32;
                if !bytes.is_multiple_of(16) || !shared.is_multiple_of(16) || !far.is_multiple_of(16) {
                    faults.add(
                        lane,
                        shared,
                        Fault::Misaligned { space: Space::Shared, offset: bytes.into() },
                    );
                    return None;
                }
                let (far, global) = match far_space {
                    Space::Shared => (Far::Shared, self.team.ranked(far)),
                    _ => (Far::Global, far),
                };
                let row = Row { shared: 0, bytes, first: 0, end: bytes, global };
                Some(Transfer { far, rows: vec![row], ..base })
            }
            Extent::Box { coordinates, offsets, im2col } => {
                self.check_map(far, lane);
                let bytes = self.map_bytes(far_space, far, lane, Mode::Read, faults)?;
                // SAFETY: the bytes were checked.
                let map = TensorMap::decode(&unsafe { bytes.read_unaligned() });
                let fits = |map: &TensorMap| {
                    map.rank == coordinates.len() && map.im2col.is_some() == *im2col && map.check().is_ok()
                };
                let Some(map) = map.filter(fits) else {
                    self.report_map(lane, map);
                    return None;
                };
                let mut at = Traversal { coordinates: [0; RANK], offsets: [0; 3] };
                for (to, slot) in at.coordinates.iter_mut().zip(coordinates) {
                    *to = frame.lane(*slot, lane) as u32 as i32;
                }
                for (to, slot) in at.offsets.iter_mut().zip(offsets) {
                    *to = frame.lane(*slot, lane) as u32;
                }
                if !shared.is_multiple_of(128) {
                    let offset = shared & address::CLUSTER_OFFSET;
                    faults.add(lane, shared, Fault::Misaligned { space: Space::Shared, offset });
                    return None;
                }
                if let Some((op, _)) = base.reduction.filter(|&(op, _)| !map.element.reduces(op)) {
                    self.report_reduction(lane, op, map.element);
                    return None;
                }
                if let Some(wrong) = map.illegal_start(&at, is_load) {
                    self.report_start(lane, wrong);
                    return None;
                }
                let reduction = base.reduction.map(|(op, ty)| (op, ty.or(Some(map.element.ptx()))));
                let mut rows = map.rows(&at);
                if !is_load && reduction.is_none() {
                    rows.iter_mut().for_each(Row::widen_store);
                }
                Some(Transfer {
                    rows,
                    swizzle: map.swizzle,
                    element: Some(map.element),
                    fill: super::transfer::fill(&map),
                    reduction,
                    ..base
                })
            }
        }
    }

    /// A copy is on its way, or done, if it is to be done early.
    fn issue_bulk(&mut self, mut transfer: Transfer) {
        let is_early = match self.launch().schedule {
            Schedule::Late => false,
            Schedule::Early => true,
            Schedule::Random { seed } => {
                self.worker.drawn = self.worker.drawn.wrapping_add(1);
                let mixed = (seed ^ self.worker.drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                mixed >> 63 == 1
            }
        };
        if let Some(barrier) = transfer.barrier {
            self.check_barrier(transfer.lane.into(), self.team.own(barrier));
        }
        self.begin_transfer(&mut transfer);
        if let Some(barrier) = transfer.barrier {
            self.worker.tell(EventKind::Copies, self.team, self.warp.index, Some(barrier));
        }
        if self.team.shadow.is_some() && transfer.is_load {
            self.team.comes_in(&transfer, is_early);
        }
        match (is_early, transfer.barrier) {
            (true, _) => self.finish_transfer(&mut transfer),
            (false, Some(_)) => self.team.cluster.loads.borrow_mut().push(transfer),
            (false, None) => {
                let lane = transfer.lane.into();
                self.warp.bulk.issue(lane, transfer);
            }
        }
    }

    /// Does what is on its way to an mbarrier, if anything is. Returns whether something was.
    pub fn finish_loads(&mut self, barrier: u64) -> bool {
        let barrier = Some(self.team.ranked(barrier));
        let loads = std::mem::take(&mut *self.team.cluster.loads.borrow_mut());
        let (done, rest): (Vec<_>, Vec<_>) = loads.into_iter().partition(|load| load.barrier == barrier);
        self.team.cluster.loads.borrow_mut().extend(rest);
        let any = !done.is_empty();
        done.into_iter().for_each(|mut load| self.finish_transfer(&mut load));
        any
    }

    /// `cp.async.bulk.wait_group`.
    pub fn bulk_wait(&mut self, keep: u32) {
        for mut transfer in self.warp.bulk.wait(self.mask, Some(keep)) {
            self.finish_transfer(&mut transfer);
        }
    }

    fn report_reduction(&mut self, lane: usize, op: AtomicOp, element: ElementType) {
        self.report(FindingKind::InvalidTensorMap, Severity::Error, 1 << lane, || {
            (
                format!("reduces a tensor of {element:?} by {op:?}: on a GPU this is an illegal instruction"),
                "u32 has all operations, i32 all but inc and dec, u64 add, min, max and those of bits, i64 min and max, f16 and bf16 add, min \
                 and max, f32 and f64 add"
                    .into(),
            )
        });
    }

    fn report_start(&mut self, lane: usize, wrong: IllegalStart) {
        self.report(FindingKind::InvalidTensorMap, Severity::Error, 1 << lane, || {
            let (message, fix) = wrong.in_words();
            (format!("{message}: on a GPU this is an illegal instruction"), fix.into())
        });
    }

    fn report_map(&mut self, lane: usize, map: Option<TensorMap>) {
        self.report(FindingKind::InvalidTensorMap, Severity::Error, 1 << lane, || {
            let message = match map {
                None => "takes something for a tensor map that is none".into(),
                Some(map) => {
                    let mode = if map.im2col.is_some() { "im2col" } else { "tiled" };
                    match map.check() {
                        Err(wrong) => format!("takes a tensor map that CUDA refuses: {wrong}"),
                        Ok(()) => format!("takes a tensor map of rank {} in {mode} mode", map.rank),
                    }
                }
            };
            let fix = "pass the map that cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col made, as a \
                       __grid_constant__ parameter or in memory, with as many coordinates as it has dimensions";
            (message, fix.into())
        });
    }
}

impl Worker<'_> {
    /// Threads have exited: what they have not waited for is done now, and reported.
    pub fn bulk_exit(&mut self, warp: &mut Warp, team: &mut Team) {
        let gone = warp.initial & !warp.live;
        if warp.bulk.is_empty() || gone == 0 {
            return;
        }
        for mut transfer in warp.bulk.wait(gone, None) {
            // An H100 keeps the memory of a block until it has been read.
            self.report(FindingKind::PendingCopy, Severity::Warning, transfer.side(), || {
                (
                    "the thread exits while this bulk copy may still read shared memory".into(),
                    "let the thread that issues it wait with cp.async.bulk.wait_group.read 0 before it exits"
                        .into(),
                )
            });
            let path = Path::new(transfer.pc, 1 << transfer.lane, self.launch.entry.frame_offset);
            Step::of_path(self, warp, team, &path).finish_transfer(&mut transfer);
        }
    }

    fn count_bulk(&mut self, site: &BulkSite, transfer: &Transfer) {
        let bytes: u64 = transfer.rows.iter().map(|row| u64::from(row.bytes)).sum();
        let moved: u64 = transfer.rows.iter().map(|row| u64::from(row.end - row.first)).sum();
        let count = &mut self.counts.accesses[site.shared.counter as usize];
        let wavefronts = bytes.div_ceil(128);
        (count.requests, count.lanes) = (count.requests + 1, count.lanes + 1);
        count.bytes += bytes;
        count.wavefronts += wavefronts;
        count.ideal_wavefronts += wavefronts;
        self.counts.spaces[site.shared.counter as usize] |= 1 << Space::Shared as u8;
        let count = &mut self.counts.accesses[site.far.counter as usize];
        (count.requests, count.lanes) = (count.requests + 1, count.lanes + 1);
        count.bytes += moved;
        let space = match transfer.far {
            Far::Global => {
                let touched = |row: &Row| {
                    let last = row.global + u64::from(row.end - row.first);
                    if row.end == row.first { 0 } else { last.div_ceil(32) - row.global / 32 }
                };
                count.sectors += transfer.rows.iter().map(touched).sum::<u64>();
                count.ideal_sectors += moved.div_ceil(32);
                Space::Global
            }
            Far::Shared => {
                count.wavefronts += wavefronts;
                count.ideal_wavefronts += wavefronts;
                Space::Shared
            }
        };
        self.counts.spaces[site.far.counter as usize] |= 1 << space as u8;
        if transfer.far == Far::Global && self.launch.watch.observer.is_some() {
            let mode = if transfer.is_load { Mode::Read } else { Mode::Write };
            for row in transfer.rows.iter().filter(|row| row.first < row.end) {
                let at = Addresses { at: [row.global; 32], mask: 1 };
                self.observe_counted(site.far.counter, row.end - row.first, &at, space, mode);
            }
        }
    }
}
