//! The opcode of a statement, resolved.

use super::{
    row::{Instruction, Lowering, Takes},
    table::find,
};
use crate::parse::ast::Statement;
use crate::ptx_isa::{Modifier, Modifiers, Shape, Type};

/// `ld.global.v4.f32`: its row, and the words behind the name in that row.
#[derive(Clone, Debug)]
pub struct Split<'a> {
    /// The row of the instruction.
    pub instruction: &'static Instruction,
    /// Types in order.
    pub types: Vec<Type>,
    /// Modifiers in order.
    pub words: Vec<Modifier>,
    /// The same as a set.
    pub modifiers: Modifiers,
    /// The shape of matrices.
    pub shape: Option<Shape>,
    /// The first word that is none of these.
    pub unknown: Option<&'a str>,
}

impl<'a> Split<'a> {
    /// Splits `text`.
    pub fn new(text: &'a str) -> Self {
        let instruction = find(text);
        let mut split = Self {
            instruction,
            types: Vec::new(),
            words: Vec::new(),
            modifiers: Modifiers::default(),
            shape: None,
            unknown: None,
        };
        let rest = text.strip_prefix(instruction.name).unwrap_or_default();
        for word in rest.split('.').skip(1).map(str::trim_end) {
            if let Some(ty) = Type::parse(word) {
                split.types.push(ty);
            } else if let Some(modifier) = Modifier::parse(word) {
                split.words.push(modifier);
                split.modifiers.insert(modifier);
            } else if let Some(shape) = Shape::parse(word) {
                split.shape = Some(shape);
            } else {
                split.unknown = split.unknown.or(Some(word));
            }
        }
        split
    }

    /// What the instruction is lowered to.
    pub fn lowering(&self) -> Lowering {
        self.instruction.lowering
    }

    /// The first word that the instruction does not take.
    pub fn refused(&self) -> Option<&'a str> {
        match self.instruction.takes {
            Takes::Anything => None,
            Takes::Known => self.unknown,
            Takes::Only(known) => {
                let refused = self.words.iter().find(|word| !known.contains(word));
                self.unknown.or(refused.map(|word| word.text()))
            }
        }
    }

    /// Whether a modifier is there.
    pub fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.has(modifier)
    }

    /// The type at `index`, or the last one written.
    pub fn ty(&self, index: usize) -> Option<Type> {
        self.types.get(index).or(self.types.last()).copied()
    }
}

/// The opcodes of a body, resolved: one for each statement that is an instruction.
pub fn resolved<'a>(body: &[Statement<'a>]) -> Vec<Option<Split<'a>>> {
    let split = |statement: &Statement<'a>| match statement {
        Statement::Instruction(instruction) => Some(Split::new(instruction.opcode)),
        _ => None,
    };
    body.iter().map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_makes_the_instruction() {
        let lowering = |text| Split::new(text).lowering();
        assert_eq!(lowering("cp.async.ca.shared.global"), Lowering::CopyAsync);
        assert_eq!(lowering("cp.async.commit_group"), Lowering::CommitCopies);
        let tensor = lowering("cp.async.bulk.tensor.2d.shared::cluster.global");
        assert_eq!(tensor, Lowering::BulkTensor { reduces: false });
        assert_eq!(lowering("cp.asynchronous"), Lowering::Unknown);
        assert_eq!(lowering("st.async.weak.shared::cluster.b32"), Lowering::StoreAsync);
    }

    #[test]
    fn words_keep_their_order_and_shapes_are_numbers() {
        let split = Split::new("wmma.mma.sync.aligned.col.row.m16n16k16.f32.f16");
        assert_eq!(split.words, [Modifier::Sync, Modifier::Aligned, Modifier::Col, Modifier::Row]);
        assert_eq!(split.shape, Some(Shape { m: 16, n: 16, k: 16 }));
        assert_eq!(split.types, [Type::F32, Type::F16]);
    }

    #[test]
    fn an_mbarrier_takes_no_more_than_it_knows() {
        assert_eq!(Split::new("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64").refused(), None);
        assert_eq!(Split::new("mbarrier.init.shared.volatile.b64").refused(), Some("volatile"));
        assert_eq!(Split::new("mbarrier.arrive.frob.b64").refused(), Some("frob"));
        assert_eq!(Split::new("fence.frob").refused(), None);
    }
}
