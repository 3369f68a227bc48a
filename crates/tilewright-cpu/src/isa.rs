//! Which vector instructions this processor has.

use core::{fmt, str::FromStr};
use std::sync::LazyLock;
use tilewright_core::{Error, ErrorKind};

/// An instruction-set path of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Plain Rust, on any processor.
    Portable,
    /// 128-bit NEON (AArch64).
    Neon,
    /// 256-bit AVX2 with FMA and F16C (x86-64-v3).
    Avx2,
    /// 512-bit AVX-512 F, BW, DQ and VL (x86-64-v4).
    Avx512,
}

/// The environment variable that forces a path; read once per process.
pub const FORCE_ISA: &str = "TILEWRIGHT_FORCE_ISA";

impl Isa {
    /// Every path, the most capable last.
    pub const ALL: &[Self] = &[Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// The lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// True when this processor can run the path.
    pub fn is_supported(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_supported()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns)] // Reached on the architectures that lack the path.
            _ => false,
        }
    }

    /// True when this processor has instructions for dot products of bytes in the vectors of the path: AVX-512 VNNI or AVX-VNNI.
    pub fn has_vnni(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avxvnni"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512vnni"),
            _ => false,
        }
    }

    /// True when this processor has SDOT and UDOT, for dot products of bytes in the vectors of the path.
    pub fn has_dotprod(self) -> bool {
        match self {
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("dotprod"),
            _ => false,
        }
    }

    /// True when this processor has AMX for bytes, and the system lets this process use it.
    pub fn has_amx() -> bool {
        #[cfg(target_arch = "x86_64")]
        return crate::tile_registers::are_there();
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// The best path of this processor.
    pub fn best() -> Self {
        Self::ALL.iter().copied().rfind(|isa| isa.is_supported()).unwrap_or(Self::Portable)
    }

    /// `requested`, or what `TILEWRIGHT_FORCE_ISA` says, or the best path.
    ///
    /// # Errors
    /// `environment` when the variable is not a path's name, `unavailable` when the processor lacks it.
    pub fn choose(requested: Option<Self>) -> Result<Self, Error> {
        // Read once: a product of small matrices takes less time than a look at the environment.
        static FORCED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(FORCE_ISA).ok());
        let (isa, by) = match (requested, FORCED.as_deref()) {
            (Some(isa), _) => (isa, "ask for"),
            (None, Some(value)) if !value.is_empty() => {
                (value.parse()?, "unset TILEWRIGHT_FORCE_ISA, or set it to")
            }
            _ => return Ok(Self::best()),
        };
        if isa.is_supported() {
            return Ok(isa);
        }
        let hint = format!("{by} {}", Self::best()).into();
        Err(ErrorKind::Unavailable { what: isa.name(), why: "this processor lacks it".into(), hint }.into())
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Isa {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|isa| isa.name() == s).ok_or_else(|| {
            let names = Self::ALL.iter().map(|isa| isa.name()).collect::<Vec<_>>().join(", ");
            let expected = format!("one of {names}");
            ErrorKind::Environment { name: FORCE_ISA, value: s.into(), expected }.into()
        })
    }
}
