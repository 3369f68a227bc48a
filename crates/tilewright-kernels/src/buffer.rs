//! What a recipe calls device memory.

/// Memory, by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// The left operand.
    A,
    /// The right operand.
    B,
    /// The result.
    C,
    /// A vector with an element for each column of the result.
    Bias,
    /// Scales of the left operand.
    ScaleA,
    /// Scales of the right operand.
    ScaleB,
    /// The input of an exhibit.
    Input,
    /// The output of an exhibit, or what a kernel tells besides its result.
    Output,
    /// One of [`crate::Recipe::workspaces`], by its index.
    Workspace(usize),
}
