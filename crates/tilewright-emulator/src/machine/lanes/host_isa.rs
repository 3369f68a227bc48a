//! Code compiled for several instruction sets of the processor that emulates: the crate itself is built for every one of its family, which on x86-64
//! means SSE2.

/// The vector instructions that hot functions are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostIsa {
    /// What every processor has.
    Baseline,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl HostIsa {
    /// The best that this processor has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 {
                return HostIsa::Avx512;
            }
            if avx2 {
                return HostIsa::Avx2;
            }
        }
        HostIsa::Baseline
    }
}

/// Makes a function that runs the inlinable function `$body`, compiled for each instruction set, and is told which.
macro_rules! for_each_host_isa {
    ($(#[$about:meta])* $vis:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty = $body:path) => {
        $(#[$about])*
        $vis fn $name(host_isa: $crate::machine::lanes::host_isa::HostIsa, $($argument: $type),*) -> $result {
            use $crate::machine::lanes::host_isa::HostIsa;
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2($($argument: $type),*) -> $result {
                $body($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
            fn avx512($($argument: $type),*) -> $result {
                $body($($argument),*)
            }
            match host_isa {
                HostIsa::Baseline => $body($($argument),*),
                // SAFETY: these variants are only made by `HostIsa::detect`, which has asked the processor.
                #[cfg(target_arch = "x86_64")]
                HostIsa::Avx2 => unsafe { avx2($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                HostIsa::Avx512 => unsafe { avx512($($argument),*) },
            }
        }
    };
}
pub(crate) use for_each_host_isa;
