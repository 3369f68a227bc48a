//! A matrix that several threads write to.

use core::ptr::NonNull;
use tilewright_core::{Layout, MatMut};

/// A matrix that threads write to, each its own elements.
pub struct Shared<T> {
    ptr: NonNull<T>,
    layout: Layout,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<T> {}
// SAFETY: the users of `get` and `set` keep threads apart.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    pub fn new(matrix: &mut MatMut<'_, T>) -> Self {
        let ptr = NonNull::new(matrix.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { ptr, layout: matrix.layout() }
    }
    /// A matrix whose first element is at `first`.
    /// # Safety
    /// As long as it is used its elements must exist, and be used through it alone.
    pub unsafe fn of(first: *mut T, layout: Layout) -> Self {
        Self { ptr: NonNull::new(first).unwrap_or(NonNull::dangling()), layout }
    }
    /// Where the first element is.
    pub fn first(self) -> *mut T {
        self.ptr.as_ptr()
    }

    pub fn layout(self) -> Layout {
        self.layout
    }
    /// Where an element is.
    /// # Safety
    /// The element must exist.
    #[inline(always)]
    pub unsafe fn address(self, i: usize, j: usize) -> *mut T {
        // SAFETY: as the caller guarantees.
        unsafe { self.ptr.offset(self.layout.offset(i, j)).as_ptr() }
    }
    /// # Safety
    /// The element must exist, and no other thread may use it.
    #[inline(always)]
    pub unsafe fn get(self, i: usize, j: usize) -> T {
        // SAFETY: as the caller guarantees.
        unsafe { self.ptr.offset(self.layout.offset(i, j)).read() }
    }
    /// # Safety
    /// As [`Shared::get`].
    #[inline(always)]
    pub unsafe fn set(self, i: usize, j: usize, value: T) {
        // SAFETY: as the caller guarantees.
        unsafe { self.ptr.offset(self.layout.offset(i, j)).write(value) }
    }
}
