//! A checked product for the driver: kernel, operands, and where sums go.

use crate::{kernel::Kernel, options::Options, shared::Shared, tile::Start};
use tilewright_core::{Layout, MatRef};

/// Where sums go.
#[derive(Clone, Copy)]
pub enum Target<'a, A> {
    /// Into C itself, which also holds the partial sums between blocks of k; and winners, from a kernel that tells, into a matrix.
    InPlace { c: *mut A, layout: Layout, start: Start, arg: Option<Shared<u32>> },
    /// Through a buffer: `store(i, j, sums, winners)` receives the complete sums of row `i` from column `j`
    /// and, from a kernel that tells, which terms won.
    Through(&'a Store<'a, A>),
}

/// Receives complete sums; see [`Target::Through`].
pub type Store<'a, A> = dyn Fn(usize, usize, &[A], &[u32]) + Sync + 'a;

/// A product to compute.
pub struct Job<'a, E: 'static, P: 'static, A: 'static> {
    pub kernel: &'a Kernel<E, P, A>,
    pub a: MatRef<'a, E>,
    pub b: MatRef<'a, E>,
    pub target: Target<'a, A>,
    pub options: &'a Options<'a>,
    /// The largest element of each row of A and of each column of B, where they are packed as exponentials.
    pub best: Option<[&'a [E]; 2]>,
}

// SAFETY: a job reads A and B, and its regions write disjoint parts of C.
unsafe impl<E: Sync, P, A: Send> Sync for Job<'_, E, P, A> {}
