//! Tensor maps that a kernel changes: `tensormap.replace`, its copy, and its fences.

use crate::check::{FindingKind, Mode, Severity};
use crate::machine::{lanes::addresses::placed, state::step::Step, watch::faults::Faults};
use crate::memory::lanes;
use crate::program::instruction::{MapField, MapKind, Space};
use crate::tensor_map::{BYTES, ElementType, Fill, Interleave, Swizzle, TensorMap};

/// Maps lie at multiples of this.
const ALIGN: u32 = 64;

impl Step<'_, '_> {
    /// An instruction on a tensor map in memory.
    pub fn map(&mut self, index: u32) {
        let Self { frame, mask, .. } = *self;
        let program = self.program();
        let site = &program.sites.maps[index as usize];
        let (maps, space) = placed(&site.map, frame, mask);
        let mut faults = Faults::default();
        for lane in lanes(mask) {
            let at = maps.at[lane];
            match &site.kind {
                MapKind::Acquire => {
                    self.team.maps.entry(at).and_modify(|acquired| *acquired = true);
                }
                MapKind::Copy { from } => {
                    let (from, from_space) = placed(from, frame, mask);
                    // All lanes of the warp copy the same map.
                    let from = from.at[lane];
                    let read = self.map_bytes(from_space, from, lane, Mode::Read, &mut faults);
                    let write = self.map_bytes(space, at, lane, Mode::Write, &mut faults);
                    let (Some(read), Some(write)) = (read, write) else { continue };
                    // SAFETY: both sides were checked, and lie in different memories.
                    unsafe { write.write_unaligned(read.read_unaligned()) };
                    self.team.maps.insert(at, false);
                }
                MapKind::Replace { field, dimension, value } => {
                    let data = self.map_bytes(space, at, lane, Mode::Write, &mut faults);
                    let Some(data) = data else { continue };
                    // SAFETY: the bytes were checked.
                    let bytes = unsafe { data.read_unaligned() };
                    // Kernels make maps from zeros.
                    let blank = || (bytes == [0; BYTES]).then(TensorMap::blank);
                    let map = TensorMap::decode(&bytes).or_else(blank);
                    let value = frame.lane(*value, lane);
                    let Some(map) = map.and_then(|map| replaced(map, *field, *dimension, value)) else {
                        self.report_replacement(lane);
                        continue;
                    };
                    // SAFETY: as above.
                    unsafe { data.write_unaligned(map.encode()) };
                    if space == Space::Global {
                        self.team.maps.insert(at, false);
                    }
                }
            }
        }
        self.report_faults(&faults, BYTES as u32, Mode::Write);
    }

    /// The bytes of a map in memory; `None` after a fault.
    pub fn map_bytes(
        &mut self,
        space: Space,
        at: u64,
        lane: usize,
        mode: Mode,
        faults: &mut Faults,
    ) -> Option<*mut [u8; BYTES]> {
        match self.lane_data(space, at, lane, BYTES as u32, ALIGN, mode) {
            Ok(data) => Some(data.cast()),
            Err(fault) => {
                faults.add(lane, at, fault);
                None
            }
        }
    }

    fn report_replacement(&mut self, lane: usize) {
        self.report(FindingKind::InvalidTensorMap, Severity::Error, 1 << lane, || {
            (
                "replaces a field of what is no tensor map, or by a value that it cannot have".into(),
                "begin with a map of cuTensorMapEncodeTiled, and give values of the PTX manual's tables"
                    .into(),
            )
        });
    }

    /// Reports a copy by a map that the block has changed, and has not acquired since.
    pub fn check_map(&mut self, at: u64, lane: usize) {
        if self.team.maps.get(&at) != Some(&false) {
            return;
        }
        self.report(FindingKind::ProxyFence, Severity::Error, 1 << lane, || {
            (
                "takes a tensor map that was changed, and that it has not acquired".into(),
                "put fence.proxy.tensormap::generic.acquire of the map before it, behind the release of \
                 tensormap.cp_fenceproxy"
                    .into(),
            )
        });
    }
}

/// The map with another value in a field; `None` if the field has no such value. Numbers of types and modes are those of PTX.
fn replaced(mut map: TensorMap, field: MapField, dimension: usize, value: u64) -> Option<TensorMap> {
    use ElementType::*;
    const ELEMENTS: [ElementType; 13] =
        [U8, U16, U32, I32, U64, I64, F16, F32, F32Ftz, F64, Bf16, Tf32, Tf32Ftz];
    let index = usize::try_from(value).ok();
    match field {
        MapField::GlobalAddress => map.address = value,
        MapField::Rank => map.rank = index.map(|rank| rank + 1).filter(|rank| (1..=5).contains(rank))?,
        MapField::BoxDim => *map.boxes.get_mut(dimension)? = value as u32,
        MapField::GlobalDim => *map.extents.get_mut(dimension)? = value,
        MapField::GlobalStride => *map.strides.get_mut(dimension)? = value,
        MapField::ElementStride => *map.steps.get_mut(dimension)? = value as u32,
        MapField::Elemtype => map.element = *ELEMENTS.get(index?)?,
        MapField::InterleaveLayout => map.interleave = Interleave::from_number(index?)?,
        MapField::SwizzleMode => map.swizzle = Swizzle::from_number(index?)?,
        MapField::FillMode => map.fill = Fill::from_number(index?)?,
    }
    Some(map)
}
