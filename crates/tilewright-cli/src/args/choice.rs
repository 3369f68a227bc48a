//! What `--kernel` names.

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use tilewright::Isa;
use tilewright_kernels::{Family, Kernel, kernels};

/// An instruction set of this processor, or a GPU kernel that multiplies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelChoice {
    Isa(Isa),
    Gpu(&'static Kernel),
}

impl KernelChoice {
    /// Every choice, fastest instruction sets first, kernels in the order of the catalogue.
    pub fn all() -> impl Iterator<Item = Self> {
        let multiplies = |kernel: &&Kernel| kernel.family != Family::Gallery;
        Isa::ALL
            .iter()
            .rev()
            .map(|&isa| Self::Isa(isa))
            .chain(kernels().iter().filter(multiplies).map(Self::Gpu))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Isa(isa) => isa.name(),
            Self::Gpu(kernel) => kernel.name,
        }
    }

    /// Help and completions list the names.
    pub fn parser() -> ValueParser {
        let find = |name: String| Self::all().find(|choice| choice.name() == name).ok_or("no such kernel");
        ValueParser::new(PossibleValuesParser::new(Self::all().map(Self::name)).try_map(find))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = KernelChoice::all().map(KernelChoice::name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
