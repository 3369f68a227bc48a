//! One line of the source.

use super::{Access, BankTraffic, Operation, SectorTraffic, Space, active_lanes};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// A line that was executed: of the CUDA source where the PTX has line information, of the PTX elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The file; a [`super::SourceText`] of this name has the text.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Its text, without indentation; empty when the source is not there.
    pub text: String,
    /// Instructions, one for each warp that executes one.
    pub warp_instructions: u64,
    /// The same, one for each active lane.
    pub thread_instructions: u64,
    /// Floating-point operations of all lanes.
    pub flops: u64,
    /// Barriers that warps executed.
    pub barriers: u64,
    /// Memory instructions, in the order of the PTX.
    pub accesses: Vec<Access>,
}

impl Line {
    /// Active lanes as a part of all, 0 to 1.
    pub fn active_lanes(&self) -> f64 {
        active_lanes(self.warp_instructions, self.thread_instructions)
    }

    /// Sums over the accesses of a kind to memory that is served in sectors; `None` if there is none.
    pub fn sectors(&self, space: Space, operation: Operation) -> Option<SectorTraffic> {
        self.sum(space, operation, Access::sectors)
    }

    /// Sums over the accesses of a kind to shared memory; `None` if there is none.
    pub fn banks(&self, operation: Operation) -> Option<BankTraffic> {
        self.sum(Space::Shared, operation, Access::banks)
    }

    fn sum<T>(&self, space: Space, operation: Operation, of: fn(&Access) -> Option<&T>) -> Option<T>
    where
        T: Copy + std::ops::AddAssign,
    {
        let chosen = self.accesses.iter().filter(|a| a.space == space && a.operation == operation);
        chosen.filter_map(of).copied().reduce(|mut sum, next| {
            sum += next;
            sum
        })
    }
}

/// The sums have the keys of the totals; null where a line has no such access.
impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Line", 12)?;
        row.serialize_field("file", &self.file)?;
        row.serialize_field("line", &self.line)?;
        row.serialize_field("text", &self.text)?;
        row.serialize_field("warp_instructions", &self.warp_instructions)?;
        row.serialize_field("thread_instructions", &self.thread_instructions)?;
        row.serialize_field("global_load", &self.sectors(Space::Global, Operation::Load))?;
        row.serialize_field("global_store", &self.sectors(Space::Global, Operation::Store))?;
        row.serialize_field("shared_load", &self.banks(Operation::Load))?;
        row.serialize_field("shared_store", &self.banks(Operation::Store))?;
        row.serialize_field("barriers", &self.barriers)?;
        row.serialize_field("flops", &self.flops)?;
        row.serialize_field("accesses", &self.accesses)?;
        row.end()
    }
}
