//! What tells whether PTX and resources that were recorded are those of a program: a hash of its code.

/// FNV-1a over the compiler's options and the code of all files. Comments, blank lines and indentation are left out: they change line
/// numbers alone, which the pinned compiler's own test compares.
pub(crate) fn key<'a>(options: &[&'a str], files: impl Iterator<Item = (&'a str, &'a str)>) -> u64 {
    let words =
        options.iter().copied().chain(files.flat_map(|(name, text)| [name].into_iter().chain(code(text))));
    let bytes = words.flat_map(|word| word.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The lines of code. Comments begin with two slashes, which stand in no string: a test looks for others.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or(line).trim()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{find, kernels},
        program::COMPILER_OPTIONS,
        programs::programs,
        variant::Variant,
    };
    use tilewright_core::{DType, SemiringId};

    fn of(text: &str) -> u64 {
        key(&[], [("a.cu", text)].into_iter())
    }

    #[test]
    fn comments_and_blank_lines_are_no_code() {
        let text = "int f()\n{\n    return 1;\n}\n";
        assert_eq!(of(text), of("// What it does.\n\nint f() // here\n{\n\n  return 1;\n}"));
        for other in ["int f()\n{\n    return 2;\n}\n", "int f()\n{\n    return 1;\n}}\n", ""] {
            assert_ne!(of(text), of(other));
        }
        assert_ne!(of(text), key(&[], [("b.cu", text)].into_iter()));
        assert_ne!(of(text), key(&["--fast"], [("a.cu", text)].into_iter()));
    }

    #[test]
    fn kernels_have_no_other_comments() {
        for launch in programs() {
            let headers = launch.program().headers();
            for (name, text) in
                headers.into_iter().chain([(launch.program().file(), launch.program().source())])
            {
                assert!(!text.contains("/*"), "{name}");
                let in_string = |line: &str| {
                    line.split("//").next().is_some_and(|code| code.matches('"').count() % 2 == 1)
                };
                assert!(!text.lines().any(in_string), "{name}");
            }
        }
    }

    /// The program of a kernel for a variant, as if the header `changed` were another.
    fn with(name: &str, semiring: SemiringId, changed: &str) -> u64 {
        let kernel = find(name).expect("known");
        let program = kernel.program(Variant::new(semiring, DType::F32), &[]);
        let files = program.headers().into_iter().chain([(program.file(), program.source())]);
        key(
            COMPILER_OPTIONS,
            files.map(|(name, text)| if name == changed { (name, "int other;") } else { (name, text) }),
        )
    }

    #[test]
    fn a_header_changes_the_programs_that_reach_it_and_no_others() {
        use SemiringId::{MinPlus, PlusTimes};
        for kernel in kernels() {
            for &Variant { semiring, .. } in kernel.variants {
                let changes = |header| with(kernel.name, semiring, header) != with(kernel.name, semiring, "");
                let multiplies = kernel.exhibit().is_none();
                assert_eq!(changes("plus_times.cuh"), multiplies && semiring == PlusTimes, "{}", kernel.name);
                assert_eq!(changes("min_plus.cuh"), multiplies && semiring == MinPlus, "{}", kernel.name);
                assert_eq!(changes("ptx.cuh"), kernel.source.contains("\"ptx.cuh\""), "{}", kernel.name);
            }
        }
    }
}
