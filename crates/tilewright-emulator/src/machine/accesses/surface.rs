//! Accesses of surfaces.

use crate::check::{FindingKind, Mode, Severity};
use crate::machine::{arrays::surface::Goes, lanes::frame::Frame, state::step::Step, watch::faults::Faults};
use crate::memory::{lanes, read, write};
use crate::program::instruction::{Layered, Space, SurfaceKind, SurfaceSite};

/// The coordinates of a lane along x, y and z.
fn coordinates(site: &SurfaceSite, frame: Frame, lane: usize) -> [i64; 3] {
    let mut all = site.coords.iter().map(|&slot| i64::from(frame.lane(slot, lane) as u32 as i32));
    let mut at = [0; 3];
    if site.layered == Layered::Yes {
        at[2] = all.next().unwrap_or(0);
    }
    at.iter_mut().zip(all).for_each(|(at, coordinate)| *at = coordinate);
    at
}

impl Step<'_, '_> {
    /// `suld`, `sust`, `suq`.
    pub fn surface(&mut self, index: u32) {
        let Self { frame, mask, .. } = *self;
        let (program, launch) = (self.program(), self.launch());
        let site = &program.sites.surfaces[index as usize];
        self.worker.count_texels(site.counter, mask);
        let mode = if site.kind == SurfaceKind::Store { Mode::Write } else { Mode::Read };
        let bytes = site.bytes * site.values.len() as u32;
        let (mut unbound, mut outside, mut misaligned) = ((0, 0), ([0; 3], 0, [0; 3]), 0);
        let mut faults = Faults::default();
        for lane in lanes(mask) {
            let handle = site.surface.of_lane(frame, lane);
            if mode == Mode::Read {
                site.values.iter().flatten().for_each(|&slot| frame.set_lane(slot, lane, 0));
            }
            let Some((_, surface)) = launch.surfaces.iter().find(|(bound, _)| *bound == handle) else {
                unbound = (handle, unbound.1 | 1 << lane);
                continue;
            };
            if let SurfaceKind::Extent(axis) = site.kind {
                let extent = surface.extent[axis as usize] as u64;
                site.values.iter().flatten().for_each(|&slot| frame.set_lane(slot, lane, extent));
                continue;
            }
            let at = coordinates(site, frame, lane);
            let address = match surface.goes(at, bytes, site.outside) {
                Goes::To(address) => address,
                Goes::Nowhere => continue,
                Goes::Misaligned => {
                    misaligned |= 1 << lane;
                    continue;
                }
                Goes::Outside => {
                    outside = (at, outside.1 | 1 << lane, surface.extent);
                    continue;
                }
            };
            // Elements may lie in rows of any pitch: alignment is that of the coordinates.
            let data = match self.lane_data(Space::Global, address, lane, bytes, site.bytes, mode) {
                Ok(data) => data,
                Err(fault) => {
                    faults.add(lane, address, fault);
                    continue;
                }
            };
            for (element, slot) in site.values.iter().enumerate() {
                let Some(slot) = *slot else { continue };
                // SAFETY: `lane_data` has checked all values.
                let data = unsafe { data.add(element * site.bytes as usize) };
                match mode {
                    Mode::Read => frame.set_lane(slot, lane, read(data, site.bytes)),
                    _ => write(data, site.bytes, frame.lane(slot, lane)),
                }
            }
        }
        let verb = if mode == Mode::Read { "reads" } else { "writes" };
        if unbound.1 != 0 {
            let side = self.side(unbound.1);
            self.worker.report_unbound(
                (verb, "surface", "cudaCreateSurfaceObject"),
                site.surface,
                unbound.0,
                side,
            );
        }
        if outside.1 != 0 {
            let ([x, y, z], lanes, extent) = outside;
            self.report(FindingKind::OutOfBounds, Severity::Error, lanes, || {
                (
                    format!("{verb} byte {x} of row {y} in layer {z} of a surface of {extent:?} elements; a GPU ends the launch there"),
                    "keep the coordinates inside; that along x counts bytes, so multiply it by the size of an element".into(),
                )
            });
        }
        if misaligned != 0 {
            self.report(FindingKind::Misaligned, Severity::Error, misaligned, || {
                (
                    format!("{verb} {bytes} bytes of a surface at a byte that is no multiple of it"),
                    "the coordinate along x counts bytes: multiply it by the size of an element".into(),
                )
            });
        }
        let side = self.side(0);
        self.worker.report_faults(&faults, side, bytes, mode);
    }
}
