//! Bulk copies, of tensors too, and their groups.

use super::{Lowerer, Lowering, other_form, unsupported};
use crate::parse::ast::{Immediate, Operand};
use crate::program::{grammar::Split, instruction::*};
use crate::ptx_isa::{Modifier, Modifiers, Type};

const OPERATIONS: &[(Modifier, AtomicOp)] = &[
    (Modifier::Add, AtomicOp::Add),
    (Modifier::Min, AtomicOp::Min),
    (Modifier::Max, AtomicOp::Max),
    (Modifier::Inc, AtomicOp::Inc),
    (Modifier::Dec, AtomicOp::Dec),
    (Modifier::And, AtomicOp::And),
    (Modifier::Or, AtomicOp::Or),
    (Modifier::Xor, AtomicOp::Xor),
];

const DIMENSIONS: &[(Modifier, usize)] =
    &[(Modifier::D1, 1), (Modifier::D2, 2), (Modifier::D3, 3), (Modifier::D4, 4), (Modifier::D5, 5)];

/// Where the two sides are, destination first.
#[derive(Clone, Copy)]
struct Sides {
    to: Modifier,
    from: Modifier,
}

impl Sides {
    fn of(split: &Split<'_>) -> Lowering<Self> {
        let is_space = |word: &&Modifier| {
            matches!(
                word,
                Modifier::Global | Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster
            )
        };
        let words: Vec<_> = split.words.iter().filter(is_space).copied().collect();
        let [to, from] = words[..] else { return other_form() };
        Ok(Self { to, from })
    }

    fn direction(self) -> Direction {
        if self.to == Modifier::Global { Direction::Store } else { Direction::Load }
    }
}

impl<'a> Lowerer<'a, '_> {
    /// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [d], [s], size, [mbarrier];`, and with `reduces`
    /// `cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [d], [s], size;`
    pub fn bulk(&mut self, split: &Split<'a>, operands: &[Operand<'a>], reduces: bool) -> Lowering<()> {
        let [to, from, size, rest @ ..] = operands else { return other_form() };
        let sides = Sides::of(split)?;
        let (to, from) = (self.side(to, sides.to)?, self.side(from, sides.from)?);
        let (shared, far) = if sides.direction() == Direction::Store { (from, to) } else { (to, from) };
        let extent = Extent::Bytes(self.source(size, Type::U32)?);
        let reduction = reduction(split, reduces, split.ty(0))?;
        let direction = sides.direction();
        let sides = BulkSite { direction, shared, far, extent, reduction, barrier: None, blocks: None };
        self.push_bulk(split, sides, rest)
    }

    /// `cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [d], [map, {x, y}], [mbarrier];` and
    /// `cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {x, y}], [s];`
    pub fn bulk_tensor(
        &mut self,
        split: &Split<'a>,
        operands: &[Operand<'a>],
        reduces: bool,
    ) -> Lowering<()> {
        let [to, from, rest @ ..] = operands else { return other_form() };
        let sides = Sides::of(split)?;
        let direction = sides.direction();
        let (shared, tensor) = if direction == Direction::Store { (from, to) } else { (to, from) };
        let shared_space = if direction == Direction::Store { sides.from } else { sides.to };
        let shared = self.side(shared, shared_space)?;
        let Operand::Address(parts) = tensor else { return other_form() };
        let [map, coordinates] = parts.as_slice() else { return other_form() };
        let coordinates = self.parts(coordinates);
        if split.modifiers.pick(DIMENSIONS) != Some(coordinates.len()) {
            return unsupported("the number of coordinates does not fit the dimensions");
        }
        let slots: Lowering<Vec<_>> = coordinates.iter().map(|part| self.source(part, Type::S32)).collect();
        let coordinates = slots?;
        let target = self.address(Some(&Operand::Address(vec![map.clone()])))?;
        let mut far = self.access(Modifiers::default(), target, Type::B8, 1)?;
        if far.space != Space::Param {
            far.space = Space::Generic;
        }
        let im2col = split.has(Modifier::Im2col);
        let (barrier, rest) = match (direction, rest) {
            (Direction::Load, [barrier, rest @ ..]) => (std::slice::from_ref(barrier), rest),
            (Direction::Load, []) => return other_form(),
            (Direction::Store, rest) => (&[][..], rest),
        };
        let (offsets, rest) = match rest {
            [offsets @ Operand::Vector(_), rest @ ..] => (self.parts(offsets), rest),
            rest => (&[][..], rest),
        };
        let slots: Lowering<Vec<_>> = offsets.iter().map(|part| self.source(part, Type::U16)).collect();
        let offsets = slots?;
        if direction == Direction::Load && im2col == offsets.is_empty() {
            return unsupported("offsets belong to im2col mode");
        }
        let reduction = reduction(split, reduces, None)?;
        let rest: Vec<_> = barrier.iter().chain(rest).cloned().collect();
        let extent = Extent::Box { coordinates, offsets, im2col };
        let sides = BulkSite { direction, shared, far, extent, reduction, barrier: None, blocks: None };
        self.push_bulk(split, sides, &rest)
    }

    /// One side of a copy.
    fn side(&mut self, operand: &Operand<'a>, space: Modifier) -> Lowering<MemorySite> {
        let target = self.address(Some(operand))?;
        self.access([space].into_iter().collect(), target, Type::B8, 1)
    }

    /// A copy between `sides`, with what stands behind them: the mbarrier, the blocks, and the cache policy, which means nothing here.
    fn push_bulk(&mut self, split: &Split<'a>, sides: BulkSite, rest: &[Operand<'a>]) -> Lowering<()> {
        let completes = split.has(Modifier::CompleteTxBytes);
        if completes == split.has(Modifier::BulkGroup) {
            return unsupported("a copy completes at an mbarrier, or belongs to a group");
        }
        let (barrier, rest) = match (completes, rest) {
            (true, [barrier, rest @ ..]) => {
                let space = if split.has(Modifier::SharedCluster) {
                    Modifier::SharedCluster
                } else {
                    Modifier::SharedCta
                };
                (Some(self.side(barrier, space)?), rest)
            }
            (true, []) => return other_form(),
            (false, rest) => (None, rest),
        };
        let blocks = match (split.has(Modifier::MulticastCluster), rest) {
            (true, [mask, ..]) => Some(self.source(mask, Type::U16)?),
            (true, []) => return other_form(),
            (false, _) => None,
        };
        let op = if sides.direction == Direction::Store { Rare::BulkStore } else { Rare::BulkLoad };
        self.sites.bulks.push(BulkSite { barrier, blocks, ..sides });
        self.push(op, self.sites.bulks.len() as u32 - 1);
        Ok(())
    }

    /// `tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, value;`
    pub fn replace_map(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        const FIELDS: &[(Modifier, MapField)] = &[
            (Modifier::GlobalAddress, MapField::GlobalAddress),
            (Modifier::Rank, MapField::Rank),
            (Modifier::BoxDim, MapField::BoxDim),
            (Modifier::GlobalDim, MapField::GlobalDim),
            (Modifier::GlobalStride, MapField::GlobalStride),
            (Modifier::ElementStride, MapField::ElementStride),
            (Modifier::Elemtype, MapField::Elemtype),
            (Modifier::InterleaveLayout, MapField::InterleaveLayout),
            (Modifier::SwizzleMode, MapField::SwizzleMode),
            (Modifier::FillMode, MapField::FillMode),
        ];
        let (Some(field), Some(ty)) = (split.modifiers.pick(FIELDS), split.ty(0)) else {
            return other_form();
        };
        let (map, dimension, value) = match operands {
            [map, value] => (map, 0, value),
            [map, Operand::Immediate(Immediate::Int(dimension)), value] => (map, *dimension as usize, value),
            _ => return other_form(),
        };
        let target = self.address(Some(map))?;
        let map = self.access(split.modifiers, target, Type::B8, 1)?;
        let value = self.source(value, ty)?;
        self.push_map(map, MapKind::Replace { field, dimension, value })
    }

    /// `tensormap.cp_fenceproxy...sync.aligned [to], [from], 128;`
    pub fn copy_map(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, from, Operand::Immediate(Immediate::Int(128))] = operands else { return other_form() };
        let (to, from) = (self.side(to, Modifier::Global)?, self.side(from, Modifier::SharedCta)?);
        self.push_map(to, MapKind::Copy { from })
    }

    /// `fence.proxy.tensormap::generic.acquire.gpu [map], 128;`
    pub fn acquire_map(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let target = self.address(operands.first())?;
        let map = self.access(Modifiers::default(), target, Type::B8, 1)?;
        self.push_map(map, MapKind::Acquire)
    }

    fn push_map(&mut self, map: MemorySite, kind: MapKind) -> Lowering<()> {
        self.sites.maps.push(MapSite { map, kind });
        self.push(Rare::Map, self.sites.maps.len() as u32 - 1);
        Ok(())
    }

    /// `cp.async.bulk.wait_group.read n;`
    pub fn bulk_wait(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [Operand::Immediate(Immediate::Int(groups))] = operands else { return other_form() };
        self.push(Rare::BulkWait, (*groups).min(u64::from(u32::MAX)) as u32);
        Ok(())
    }
}

/// What is done with what is there; `ty` is the type of the elements where the instruction says it.
fn reduction(split: &Split<'_>, reduces: bool, ty: Option<Type>) -> Lowering<Option<Reduction>> {
    match (reduces, split.modifiers.pick(OPERATIONS)) {
        (false, _) => Ok(None),
        (true, Some(op)) => Ok(Some(Reduction { op, ty })),
        (true, None) => other_form(),
    }
}
