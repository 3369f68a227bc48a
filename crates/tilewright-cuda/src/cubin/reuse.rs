//! Operands that an instruction can take over from the one before it, where the assembler does not say so.
//!
//! A double precision multiply-add reads three operands of 64 bits, for which the register file of compute capability 9.0 needs three
//! cycles, and the arithmetic two. With its *reuse* flag set an operand is kept for the same place of the warp's next instruction, and two
//! cycles are enough. In long runs of multiply-adds `ptxas` 13.0 gives up about every seventh flag for a hint to turn to another warp
//! (yield): 14 % of the products of an 8 x 8 tile of each thread, whose neighbours share an operand all the same. With the flag in place of the hint the
//! kernel is 6.5 % faster (BENCHMARKS.md). Results are the same bits: the flag says where an operand is read, not which.
//!
//! The places of the fields of an instruction are known from disassembly: Jia, Maggioni, Staiger and Scarpazza, "Dissecting the NVIDIA
//! Volta GPU Architecture via Microbenchmarking" (2018), section 2; `nvdisasm` shows that they hold for 9.0.

use super::{Cubin, InvalidCubin, elf::Elf};

/// Where the effect was measured.
const ARCHITECTURE: u32 = 90;

/// Bytes of an instruction.
const INSTRUCTION: usize = 16;

/// `DFMA` of four registers, always executed.
const MULTIPLY_ADD: u128 = 0x722b;

/// The register that is always zero.
const ZERO: u8 = 255;

/// Set: the scheduler may stay with this warp.
const STAY: u128 = 1 << 109;

/// The first operand's reuse flag; those of the others follow.
const REUSE: u32 = 122;
const REUSE_FLAGS: u128 = 7 << REUSE;

/// `d = a * b + c` on pairs of registers, each named by its first.
struct MultiplyAdd {
    d: u8,
    /// In the order of the reuse flags.
    operands: [u8; 3],
}

impl MultiplyAdd {
    fn decode(instruction: u128) -> Option<Self> {
        let byte = |bit: u32| (instruction >> bit) as u8;
        let operands = [byte(24), byte(32), byte(64)];
        (instruction & 0xffff == MULTIPLY_ADD).then(|| Self { d: byte(16), operands })
    }

    /// The flags of operands that `next` has in the same place, and that this instruction does not replace.
    fn shared_with(&self, next: &Self) -> u128 {
        let pairs = self.operands.iter().zip(&next.operands).enumerate();
        pairs
            .filter(|(_, (mine, other))| mine == other && **mine != ZERO && **mine != self.d)
            .fold(0, |flags, (place, _)| flags | 1 << (REUSE + place as u32))
    }
}

/// Sets the flags in all kernels of a cubin, and says of how many instructions. There are none for other architectures.
///
/// # Errors
/// [`InvalidCubin`] for bytes that are none; they stay as they are.
pub(crate) fn reuse_operands(image: &mut [u8]) -> Result<usize, InvalidCubin> {
    if Cubin::parse(image)?.architecture != ARCHITECTURE {
        return Ok(0);
    }
    let sections = Elf::parse(image)?.sections;
    let code = sections.iter().filter(|section| section.name.starts_with(".text."));
    let ranges: Vec<_> = code.map(|section| (section.start as usize, section.bytes.len())).collect();
    let mut changed = 0;
    for (start, bytes) in ranges {
        changed += in_code(&mut image[start..start + bytes]);
    }
    Ok(changed)
}

fn in_code(code: &mut [u8]) -> usize {
    let instructions = code.as_chunks_mut::<INSTRUCTION>().0;
    let mut changed = 0;
    for at in 1..instructions.len() {
        let [first, next] = [at - 1, at].map(|at| u128::from_le_bytes(instructions[at]));
        let (Some(this), Some(other)) = (MultiplyAdd::decode(first), MultiplyAdd::decode(next)) else {
            continue;
        };
        let shared = this.shared_with(&other);
        if first & REUSE_FLAGS == 0 && shared != 0 {
            instructions[at - 1] = (first | STAY | shared).to_le_bytes();
            changed += 1;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `DFMA d, a, b, c` with a yield hint, two cycles, and no flag.
    fn multiply_add(d: u8, a: u8, b: u8, c: u8) -> u128 {
        let registers = u128::from(d) << 16 | u128::from(a) << 24 | u128::from(b) << 32 | u128::from(c) << 64;
        MULTIPLY_ADD | registers | 2 << 105
    }

    /// The flags and the hint of each instruction afterwards.
    fn flags(code: &[u128]) -> (usize, Vec<(u128, bool)>) {
        let mut bytes: Vec<u8> = code.iter().flat_map(|instruction| instruction.to_le_bytes()).collect();
        let changed = in_code(&mut bytes);
        let words = bytes.as_chunks().0.iter().map(|&bytes| u128::from_le_bytes(bytes));
        let found: Vec<u128> = words.collect();
        for (before, after) in code.iter().zip(&found) {
            assert_eq!(before | STAY | REUSE_FLAGS, after | STAY | REUSE_FLAGS, "nothing else changes");
        }
        (changed, found.iter().map(|word| (word >> REUSE & 7, word & STAY != 0)).collect())
    }

    #[test]
    fn what_neighbours_share_is_kept() {
        let code = [multiply_add(10, 2, 4, 10), multiply_add(12, 2, 6, 12), multiply_add(14, 8, 6, 14)];
        assert_eq!(flags(&code), (2, vec![(1, true), (2, true), (0, false)]));
    }

    #[test]
    fn what_is_replaced_or_elsewhere_is_not() {
        // The first writes what the second reads; the third has it in another place; the last two share the zero register.
        let code = [
            multiply_add(2, 2, 4, 2),
            multiply_add(12, 2, 6, 12),
            multiply_add(14, 6, 8, 14),
            multiply_add(16, ZERO, 20, 16),
            multiply_add(18, ZERO, 22, 18),
        ];
        assert_eq!(flags(&code), (0, vec![(0, false); 5]));
    }

    #[test]
    fn only_neighbours_that_always_execute_count() {
        let [one, two] = [multiply_add(10, 2, 4, 10), multiply_add(12, 2, 6, 12)];
        let load = 0x7984;
        let conditional = two & !(7 << 12);
        assert_eq!(flags(&[one, load, two]).0, 0);
        assert_eq!(flags(&[one, conditional]).0, 0);
        assert_eq!(flags(&[conditional, one]).0, 0);
    }

    #[test]
    fn flags_of_the_assembler_stay() {
        let flagged = multiply_add(10, 2, 4, 10) | 2 << REUSE | STAY;
        assert_eq!(flags(&[flagged, multiply_add(12, 2, 6, 12)]), (0, vec![(2, true), (0, false)]));
    }

    #[test]
    fn only_compute_capability_9_0_is_touched() {
        let older = include_bytes!("../../tests/data/resources.sm_75.cuda13.cubin");
        assert_eq!(reuse_operands(&mut older.to_vec()), Ok(0));
        assert!(reuse_operands(&mut b"no cubin".to_vec()).is_err());
    }
}
