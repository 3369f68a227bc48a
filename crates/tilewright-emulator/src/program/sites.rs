//! What instructions need beside their operands.

use super::instruction::*;

/// The operands that do not fit into an instruction.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    pub scalars: Vec<ScalarSite>,
    pub memories: Vec<MemorySite>,
    pub atomics: Vec<AtomicSite>,
    pub copies: Vec<CopySite>,
    pub bulks: Vec<BulkSite>,
    pub maps: Vec<MapSite>,
    pub barriers: Vec<BarrierSite>,
    pub mbarriers: Vec<MbarrierSite>,
    pub warps: Vec<WarpSite>,
    pub calls: Vec<CallSite>,
    pub packs: Vec<PackSite>,
    pub rows: Vec<RowsSite>,
    pub carries: Vec<CarrySite>,
    pub mmas: Vec<MmaSite>,
    pub wmmas: Vec<WmmaSite>,
    pub matrices: Vec<MatrixRowsSite>,
    pub wgmmas: Vec<WgmmaSite>,
    pub textures: Vec<TextureSite>,
    pub surfaces: Vec<SurfaceSite>,
    pub spaces: Vec<SpaceSite>,
    /// Indexed jumps: the targets.
    pub tables: Vec<Vec<u32>>,
    /// Why an instruction is refused.
    pub refusals: Vec<String>,
}

impl Sites {
    /// The counter rows of an instruction that accesses memory: a copy has one for each side, and so has an atomic that
    /// is a loop.
    pub fn counters(&mut self, inst: &Inst) -> [Option<&mut u32>; 2] {
        let index = inst.aux as usize;
        if inst.op == Op::Rare(Rare::Wgmma) {
            return [Some(&mut self.wgmmas[index].counter), None];
        }
        let Some(access) = inst.op.access() else { return [None, None] };
        let counter = match access {
            Access::Plain(_) => &mut self.memories[index].counter,
            Access::Atomic => {
                let site = &mut self.atomics[index];
                return [Some(&mut site.memory.counter), site.loads.as_mut()];
            }
            Access::Copy => {
                let site = &mut self.copies[index];
                return [Some(&mut site.from.counter), Some(&mut site.to.counter)];
            }
            Access::Bulk(_) => {
                let site = &mut self.bulks[index];
                return [Some(&mut site.far.counter), Some(&mut site.shared.counter)];
            }
            Access::Matrices(_) => &mut self.matrices[index].memory.counter,
            Access::Fragment(_) => &mut self.wmmas[index].memory.counter,
            Access::Texture => &mut self.textures[index].counter,
            Access::Surface(_) => &mut self.surfaces[index].counter,
        };
        [Some(counter), None]
    }
}
