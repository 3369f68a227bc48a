//! Lanes that part.

use crate::machine::{
    lanes::frame::Frame,
    state::warp::{Join, JoinKind, Path, Warp},
};
use crate::program::{NO_RECONVERGENCE, instruction::Inst};

/// The targets of an indexed jump and who goes there; lanes that the guard takes out fall through.
pub fn indexed(frame: Frame, inst: &Inst, table: &[u32], mask: u32, all: u32, next: u32) -> Vec<(u32, u32)> {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    // SAFETY: the index is a row of 32-bit values.
    let index = unsafe { *frame.source::<[u32; 32]>(inst.a) };
    for lane in crate::memory::lanes(all) {
        let jumps = mask >> lane & 1 == 1;
        let target = if jumps { table.get(index[lane] as usize).copied().unwrap_or(next) } else { next };
        match parts.iter_mut().find(|part| part.0 == target) {
            Some(part) => part.1 |= 1 << lane,
            None => parts.push((target, 1 << lane)),
        }
    }
    parts
}

/// The lanes of `path` part. It goes on with the first part; the others wait in the warp, or at the place where all meet.
pub fn diverge(warp: &mut Warp, path: &mut Path, meeting: u32, reconvergence: u32, parts: [(u32, u32); 2]) {
    // A loop that lanes leave one by one has one join, not one per turn.
    if reconvergence != NO_RECONVERGENCE
        && reconvergence == meeting
        && let Some(join) = path.join
    {
        let [(first, lanes), (second, other_lanes)] = parts;
        if second == reconvergence {
            warp.arrive(join, other_lanes);
            (path.pc, path.mask) = (first, lanes);
            return;
        }
        if first == reconvergence {
            warp.arrive(join, lanes);
            (path.pc, path.mask) = (second, other_lanes);
            return;
        }
    }
    diverge_many(warp, path, meeting, reconvergence, &parts);
}

/// As [`diverge`], in any number of directions.
pub fn diverge_many(
    warp: &mut Warp,
    path: &mut Path,
    meeting: u32,
    reconvergence: u32,
    parts: &[(u32, u32)],
) {
    if reconvergence != NO_RECONVERGENCE && reconvergence != meeting {
        path.join = Some(warp.add_join(Join {
            pc: reconvergence,
            expected: path.mask,
            arrived: 0,
            parent: path.join,
            frame: path.frame,
            level: path.level,
            kind: JoinKind::Branch,
        }));
    }
    let mut parts = parts.iter();
    if let Some(&(pc, mask)) = parts.next() {
        let whole = *path;
        (path.pc, path.mask) = (pc, mask);
        for &(pc, mask) in parts {
            warp.paths.push(Path { pc, mask, ..whole });
        }
    }
}
