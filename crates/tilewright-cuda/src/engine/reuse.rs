//! Whether machine code is changed before it is loaded: see `cubin/reuse.rs`. The first time that there is something to change, a product is computed
//! by code as it was compiled and by changed code, and unless they give the same bits, nothing is changed on this device.

use super::Engine;
use super::code::CodeLaunch;
use tilewright_core::{DType, Error, ErrorKind, Layout, Problem, SemiringId};
use tilewright_kernels::{Buffer, Launch, Request, Variant, find, simt_tiles};
use tilewright_toolchain::{REUSE_COMPILERS, reuse_operands};

/// Set to anything but 0 to run code as it was compiled.
const DISABLE_VARIABLE: &str = "TILEWRIGHT_NO_REUSE";

/// Rows and columns of C, and terms: several blocks, and more tiles of terms than the pipeline holds.
const SIZE: [usize; 3] = [256, 128, 160];

/// What is known of changed machine code without a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandReuse {
    /// Whether `TILEWRIGHT_NO_REUSE` leaves it on.
    pub enabled: bool,
    /// The compilers whose code is changed, as they call themselves in it.
    pub compilers: &'static [&'static str],
    /// The only architecture for which code is changed.
    pub architecture: &'static str,
}

impl OperandReuse {
    /// For the environment of this process.
    ///
    /// ```
    /// assert_eq!(tilewright_cuda::OperandReuse::current().architecture, "sm_90");
    /// ```
    pub fn current() -> Self {
        Self { enabled: !is_disabled(), compilers: &REUSE_COMPILERS, architecture: "sm_90" }
    }
}

impl Engine {
    /// Whether machine code is changed for this device, so that operands are reused: where it is known to help, not switched off, and gives the same bits as
    /// code as it was compiled. Found out once, by a small product.
    pub fn reuses_operands(&self) -> bool {
        let found = || OperandReuse::current().enabled && self.gives_the_same_bits().unwrap_or(false);
        *self.0.reuses_operands.get_or_init(found)
    }

    fn gives_the_same_bits(&self) -> Result<bool, Error> {
        let [m, n, k] = SIZE;
        // Copied in vectors, as in the loops that are measured.
        let (a, b, c) = (Layout::col_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n));
        let request = Request {
            gpu: self.gpu(),
            tile: simt_tiles(Variant::new(SemiringId::PlusTimes, DType::F64)).first().copied(),
            splits: Some(1),
            ..Request::new(Problem::new(a, b, c)?, SemiringId::PlusTimes, DType::F64)
        };
        let recipe = find("simt")?.recipe(&request)?;
        let [launch] = recipe.launches() else { return Ok(false) };
        let image = self.image(launch.program())?;
        let Some((changed, _)) = reuse_operands(&image) else { return Ok(false) };
        let operands = [numbers(m * k, 1), numbers(k * n, 2)];
        Ok(agree(&image, &changed, |image| self.result(launch, image, &operands, m * n)))
    }

    /// C, as bytes, by this machine code.
    fn result(
        &self,
        launch: &Launch,
        image: &[u8],
        [a, b]: &[Vec<u8>; 2],
        elements: usize,
    ) -> Result<Vec<u8>, Error> {
        let mut c = vec![0xff; elements * size_of::<f64>()];
        let arrays = self.upload_arrays(&[("A", a), ("B", b), ("C", &c)])?;
        let arguments = launch.arguments().iter().map(|argument| argument.value.rename(array, array));
        let arguments = arguments.collect::<Result<Vec<_>, Error>>()?;
        let code = CodeLaunch {
            name: launch.program().name(),
            cubin: image,
            entry: launch.entry(),
            shape: *launch.shape(),
            arguments: &arguments,
            symbols: &[],
        };
        // SAFETY: the arguments are those that the recipe has for the entry, the arrays are as long as its operands, and a changed flag says where an
        // operand of arithmetic on numbers is read: no address depends on it.
        unsafe { self.run_code(&code, &arrays)? };
        arrays.read([&mut Vec::new(), &mut Vec::new(), &mut c])?;
        Ok(c)
    }
}

fn is_disabled() -> bool {
    std::env::var_os(DISABLE_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether both run and give the same bits.
fn agree(image: &[u8], changed: &[u8], mut run: impl FnMut(&[u8]) -> Result<Vec<u8>, Error>) -> bool {
    matches!((run(image), run(changed)), (Ok(plain), Ok(found)) if plain == found)
}

/// Numbers of which no two are alike, with bits in all places, so that an operand from elsewhere makes another sum.
fn numbers(count: usize, salt: u64) -> Vec<u8> {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // In [1, 2).
        f64::from_bits(0x3ff0_0000_0000_0000 | state >> 12)
    };
    (0..count).flat_map(|_| next().to_le_bytes()).collect()
}

/// An operand's place among the arrays.
fn array(buffer: &Buffer) -> Result<usize, Error> {
    [Buffer::A, Buffer::B, Buffer::C].iter().position(|operand| operand == buffer).ok_or_else(|| {
        let (what, why) = (format!("{buffer:?}"), "one launch on A, B and C is checked".into());
        ErrorKind::Unsupported { what, why, hint: "".into() }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_arch::{Architecture, ComputeCapability};
    use tilewright_kernels::COMPILER_OPTIONS;
    use tilewright_toolchain::{Nvrtc, Output, Source};

    #[test]
    fn code_is_changed_where_it_gives_the_same_bits() {
        let failing =
            || Error::from(ErrorKind::Unavailable { what: "a GPU", why: String::new(), hint: "".into() });
        assert!(agree(b"plain", b"changed", |_| Ok(vec![1, 2])));
        assert!(!agree(b"plain", b"changed", |image| Ok(image.to_vec())));
        assert!(!agree(b"plain", b"changed", |image| {
            if image == b"changed" { Err(failing()) } else { Ok(vec![]) }
        }));
        assert!(!agree(b"plain", b"changed", |_| Err(failing())));
    }

    /// The tile for which it was measured, by the compiler with which it was.
    #[test]
    fn the_measured_tile_is_changed() {
        let Ok(nvrtc) = Nvrtc::find() else { return };
        let [m, n, k] = SIZE;
        let (a, b, c) = (Layout::col_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n));
        let request = Request {
            tile: simt_tiles(Variant::new(SemiringId::PlusTimes, DType::F64)).first().copied(),
            splits: Some(1),
            ..Request::new(Problem::new(a, b, c).expect("fits"), SemiringId::PlusTimes, DType::F64)
        };
        let recipe = find("simt").expect("known").recipe(&request).expect("accepted");
        let [launch] = recipe.launches() else { panic!("{} launches", recipe.launches().len()) };
        let headers = launch.program().headers();
        let source =
            Source { name: launch.program().file(), text: launch.program().source(), headers: &headers };
        let architecture = Architecture::of(ComputeCapability::new(9, 0));
        let compiled =
            nvrtc.compile(&source, architecture, Output::Cubin, COMPILER_OPTIONS).expect("compiles");
        let maker = |text: &str| compiled.image.windows(text.len()).any(|window| window == text.as_bytes());
        let changed = reuse_operands(&compiled.image).map_or(0, |(_, count)| count);
        eprintln!("NVRTC {}: {changed} instructions", nvrtc.version());
        assert_eq!(changed > 100, REUSE_COMPILERS.into_iter().any(maker));
    }

    #[test]
    fn the_numbers_have_bits_in_all_places() {
        let bytes = numbers(1000, 1);
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let fraction = (1 << 52) - 1;
        assert_eq!(words.iter().fold(0, |all, word| all | word & fraction), fraction);
        let distinct: std::collections::BTreeSet<_> = words.iter().collect();
        assert_eq!(distinct.len(), words.len());
    }
}
