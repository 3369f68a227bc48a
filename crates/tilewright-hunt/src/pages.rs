//! Memory between pages that nobody may touch.

use core::{marker::PhantomData, ptr::NonNull, slice};

/// What fills the rest of the pages, on the side where elements do not meet the guard.
const BAND: u8 = 0xa5;

/// Where elements lie between the guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first one follows the guard.
    First,
    /// The guard follows the last one.
    Last,
}

/// Elements that begin after a guard page or end before one.
pub struct Guarded<T> {
    map: Map,
    offset: usize,
    len: usize,
    life: PhantomData<T>,
}

impl<T: Copy> Guarded<T> {
    /// So many elements, all the same.
    pub fn new(len: usize, side: Side, value: T) -> Self {
        let bytes = len * size_of::<T>();
        let map = Map::new(bytes);
        let offset = if side == Side::First { 0 } else { map.len - bytes };
        // SAFETY: the map has `map.len` writable bytes, of which the elements are the first or the last. Pages, and so the
        // end of the last, are aligned for all types.
        unsafe {
            map.start.as_ptr().write_bytes(BAND, map.len);
            let first = map.start.as_ptr().add(offset).cast::<T>();
            (0..len).for_each(|i| first.add(i).write(value));
        }
        Self { map, offset, len, life: PhantomData }
    }

    fn first(&self) -> *mut T {
        // SAFETY: the offset lies inside the map.
        unsafe { self.map.start.as_ptr().add(self.offset).cast() }
    }
    /// The elements.
    pub fn slice(&self) -> &[T] {
        // SAFETY: they were written, and are borrowed as `self` is.
        unsafe { slice::from_raw_parts(self.first(), self.len) }
    }
    /// The elements.
    pub fn slice_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.first(), self.len) }
    }
    /// Whether nobody has written beside the elements.
    pub fn band_is_whole(&self) -> bool {
        // SAFETY: all bytes of the map were written.
        let all = unsafe { slice::from_raw_parts(self.map.start.as_ptr(), self.map.len) };
        let end = self.offset + self.len * size_of::<T>();
        all[..self.offset].iter().chain(&all[end..]).all(|&byte| byte == BAND)
    }
}

/// Whole pages, with a guard before and after.
struct Map {
    start: NonNull<u8>,
    len: usize,
}

#[cfg(unix)]
mod system {
    use super::{Map, NonNull};
    use std::process::abort;

    /// A multiple of the page size of every system.
    const PAGE: usize = 64 << 10;

    impl Map {
        pub fn new(bytes: usize) -> Self {
            let len = bytes.next_multiple_of(page());
            let (all, guard) = (len + 2 * PAGE, PAGE);
            // SAFETY: the mapping is new, and no part of it is used but through `start`.
            unsafe {
                let (flags, none) = (libc::MAP_PRIVATE | libc::MAP_ANON, core::ptr::null_mut());
                let first = libc::mmap(none, all, libc::PROT_NONE, flags, -1, 0);
                if first == libc::MAP_FAILED {
                    abort();
                }
                let start = first.cast::<u8>().add(guard);
                if len > 0 && libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                    abort();
                }
                Self { start: NonNull::new_unchecked(start), len }
            }
        }
    }

    impl Drop for Map {
        fn drop(&mut self) {
            // SAFETY: this is what was mapped.
            unsafe { libc::munmap(self.start.as_ptr().sub(PAGE).cast(), self.len + 2 * PAGE) };
        }
    }

    /// The system's page size.
    fn page() -> usize {
        // SAFETY: a question without arguments.
        usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(PAGE)
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Map, NonNull};
    use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

    /// Bytes of the band on either side: there are no guard pages here.
    const PAGE: usize = 4096;

    fn memory(bytes: usize) -> Layout {
        Layout::from_size_align(bytes + PAGE, PAGE).unwrap_or(Layout::new::<u8>())
    }

    impl Map {
        pub fn new(bytes: usize) -> Self {
            let len = bytes.next_multiple_of(PAGE) + PAGE;
            // SAFETY: the size is not 0.
            let Some(start) = NonNull::new(unsafe { alloc(memory(len)) }) else {
                handle_alloc_error(memory(len))
            };
            Self { start, len }
        }
    }

    impl Drop for Map {
        fn drop(&mut self) {
            // SAFETY: this is what was allocated.
            unsafe { dealloc(self.start.as_ptr(), memory(self.len)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_at_a_guard() {
        for side in [Side::First, Side::Last] {
            for len in [0, 1, 5, 4096, 5000] {
                let mut guarded = Guarded::new(len, side, 7u64);
                assert!(guarded.slice().iter().all(|&x| x == 7) && guarded.slice().len() == len);
                guarded.slice_mut().fill(8);
                assert!(guarded.band_is_whole());
                let Some(beside) = guarded.map.len.checked_sub(len * 8).filter(|&rest| rest > 0) else {
                    continue;
                };
                let at = if side == Side::First { len * 8 } else { beside - 1 };
                // SAFETY: the byte lies in the map, beside the elements.
                unsafe { guarded.map.start.as_ptr().add(at).write(0) };
                assert!(!guarded.band_is_whole());
            }
        }
    }
}
