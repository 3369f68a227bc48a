//! The addresses of an access, from the registers that hold them.

use super::frame::Frame;
use crate::memory::Addresses;
use crate::program::{
    address,
    instruction::{MemorySite, Slot, Space, Width},
};

/// The addresses of a site; lanes that sit out get that of the first active lane.
#[inline(always)]
pub fn gather(site: &MemorySite, frame: Frame, mask: u32) -> Addresses {
    let mut at = match site.base {
        Some(slot) => frame.row(slot),
        None => [0; 32],
    };
    for address in &mut at {
        *address = address.wrapping_add(site.offset as u64);
    }
    // Shared addresses in 32-bit registers wrap at 32 bits.
    if matches!(site.base, Some(Slot { width: Width::Word, .. })) {
        at.iter_mut().for_each(|address| *address &= u64::from(u32::MAX));
    }
    if mask != u32::MAX {
        let first = at[mask.trailing_zeros() as usize & 31];
        for (lane, address) in at.iter_mut().enumerate() {
            *address = if mask >> lane & 1 == 1 { *address } else { first };
        }
    }
    Addresses { at, mask }
}

/// The addresses of a site and the space that they are in.
#[inline(always)]
pub fn placed(site: &MemorySite, frame: Frame, mask: u32) -> (Addresses, Space) {
    let mut addresses = gather(site, frame, mask);
    let space = resolve(site.space, &mut addresses);
    (addresses, space)
}

/// The space that generic addresses mean, if it is one for all active lanes; and the addresses in it.
#[inline(always)]
pub fn resolve(space: Space, addresses: &mut Addresses) -> Space {
    if space != Space::Generic {
        return space;
    }
    if addresses.at.iter().all(|&at| at >> address::REGION_SHIFT != 0) {
        return Space::Global;
    }
    resolve_window(addresses)
}

#[cold]
fn resolve_window(addresses: &mut Addresses) -> Space {
    let first = address::window(addresses.at[0]);
    if addresses.at.iter().any(|&at| address::window(at) != first) {
        return Space::Generic;
    }
    let space = match first {
        address::SHARED_WINDOW => Space::Shared,
        address::LOCAL_WINDOW => Space::Local,
        address::PARAM_WINDOW => Space::Param,
        _ => return Space::Global,
    };
    addresses.at.iter_mut().for_each(|at| *at -= first);
    space
}
