//! Loops that the compiler turns to vectors, for the instruction set at hand.

/// Defines `$name`, which calls `$loops`, always inlined, compiled for the instruction set that its last argument names.
macro_rules! for_each_isa {
    ($(#[$doc:meta])* $vis:vis fn $name:ident<S>($($arg:ident: $type:ty),*) $(-> $output:ty)? = $loops:ident) => {
        $(#[$doc])*
        $vis fn $name<S: $crate::semiring::PathSemiring>($($arg: $type,)* isa: tilewright_cpu::Isa) $(-> $output)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
            fn avx512<S: $crate::semiring::PathSemiring>($($arg: $type),*) $(-> $output)? {
                $loops::<S>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<S: $crate::semiring::PathSemiring>($($arg: $type),*) $(-> $output)? {
                $loops::<S>($($arg),*)
            }
            match isa {
                // SAFETY: an instruction set is only chosen where it is supported.
                #[cfg(target_arch = "x86_64")]
                tilewright_cpu::Isa::Avx512 => unsafe { avx512::<S>($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                tilewright_cpu::Isa::Avx2 => unsafe { avx2::<S>($($arg),*) },
                _ => $loops::<S>($($arg),*),
            }
        }
    };
}
pub(crate) use for_each_isa;
