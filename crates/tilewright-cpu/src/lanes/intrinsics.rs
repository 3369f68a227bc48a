//! What the vector types made of intrinsics have in common.

/// Defines a vector type by its intrinsics. `$t` is the element, `$v` the register.
macro_rules! lanes {
    ($name:ident, $t:ty, $v:ty, $len:literal, $splat:expr, $load:expr, $store:expr, $add:expr, $mul:expr,
     $mul_add:expr, $min:expr, $max:expr, $lt:expr, $blend:expr, $any:expr, $eq:expr, $bits:expr $(, add_with: $add_with:expr)?) => {
        #[derive(Clone, Copy)]
        pub struct $name(pub(super) $v);
        // SAFETY (all blocks): the caller guarantees the instruction set, and the memory where one is named.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Lanes for $name {
            type T = $t;
            const LEN: usize = $len;
            #[inline(always)]
            unsafe fn splat(x: $t) -> Self { Self(unsafe { $splat(x) }) }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self { Self(unsafe { $load(p.cast()) }) }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) { unsafe { $store(p.cast(), self.0) } }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self { Self(unsafe { $add(self.0, o.0) }) }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self { Self(unsafe { $mul(self.0, o.0) }) }
            #[inline(always)]
            unsafe fn mul_add(self, o: Self, acc: Self) -> Self { Self(unsafe { $mul_add(self.0, o.0, acc.0) }) }
            #[inline(always)]
            unsafe fn min(self, acc: Self) -> Self { Self(unsafe { $min(self.0, acc.0) }) }
            #[inline(always)]
            unsafe fn max(self, acc: Self) -> Self { Self(unsafe { $max(self.0, acc.0) }) }
            #[inline(always)]
            unsafe fn replace_above(self, limit: Self, then: Self) -> Self {
                Self(unsafe { $blend($lt(limit.0, self.0), self.0, then.0) })
            }
            #[inline(always)]
            unsafe fn replace_below(self, limit: Self, then: Self) -> Self {
                Self(unsafe { $blend($lt(self.0, limit.0), self.0, then.0) })
            }
            #[inline(always)]
            unsafe fn where_better(self, max: bool, new: Self, old: Self, then: Self) -> Self {
                let mask = unsafe { if max { $lt(old.0, new.0) } else { $lt(new.0, old.0) } };
                Self(unsafe { $blend(mask, self.0, then.0) })
            }
            #[inline(always)]
            unsafe fn any_better(self, max: bool, o: Self) -> bool {
                unsafe { $any(if max { $lt(o.0, self.0) } else { $lt(self.0, o.0) }) }
            }
            #[inline(always)]
            unsafe fn where_equal(self, a: Self, b: Self, then: Self) -> Self {
                Self(unsafe { $blend($eq(a.0, b.0), self.0, then.0) })
            }
            #[inline(always)]
            unsafe fn equal(self, o: Self) -> u64 { unsafe { $bits($eq(self.0, o.0)) } }
            $(#[inline(always)]
            unsafe fn add_with(self, o: Self, one: Self) -> Self { Self(unsafe { $add_with(self.0, one.0, o.0) }) })?
        }
    };
}
pub(super) use lanes;
