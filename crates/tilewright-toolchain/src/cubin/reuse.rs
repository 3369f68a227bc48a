//! Operands that an instruction can take over from the one before it, where the assembler does not say so.
//!
//! A double precision multiply-add reads three operands of 64 bits, for which the register file of compute capability 9.0 needs three
//! cycles, and the arithmetic two. With its *reuse* flag set an operand is kept for the same place of the warp's next instruction, and two
//! cycles are enough. In long runs of multiply-adds `ptxas` 13.0 gives up about every seventh flag for a hint to turn to another warp
//! (yield): 14 % of the products of an 8 x 8 tile of each thread, whose neighbours share an operand all the same. With the flag in place of the hint the
//! kernel is 6.5 % faster (BENCHMARKS.md). Results are the same bits: the flag says where an operand is read, not which.
//!
//! Machine code is not documented, so that nothing is changed but what was measured: the code of one build of the compiler, which the cubin names, for one
//! architecture, and of it the one pattern of control bits (two cycles, a hint to yield, no barrier, no wait). The assembler itself sets the flag in front of
//! instructions that wait, so that what the neighbour waits for does not matter.
//!
//! The places of the fields of an instruction are known from disassembly: Jia, Maggioni, Staiger and Scarpazza, "Dissecting the NVIDIA
//! Volta GPU Architecture via Microbenchmarking" (2018), section 2; `nvdisasm` shows that they hold for 9.0.

use super::elf::Elf;

/// Where the effect was measured.
const ARCHITECTURE: u32 = 90;
/// The compilers whose machine code [`reuse_operands`] knows, as they name themselves in it.
pub const COMPILERS: [&str; 1] = ["Cuda compilation tools, release 13.0, V13.0.88"];

/// Where a cubin says what made it.
const MAKER: &str = ".note.nv.tkinfo";

/// Bytes of an instruction.
const INSTRUCTION: usize = 16;

/// Registers of an instruction: the result, then the operands in the order of their reuse flags.
const RESULT: u32 = 16;
const OPERANDS: [u32; 3] = [24, 32, 64];

/// `DFMA` of four registers, always executed, without modifiers: the bits from the opcode to the last modifier.
const MULTIPLY_ADD: u128 = 0x722b;
const MEANING: u128 = ((1 << 105) - 1) & !registers([0xff; 4]);

/// The control bits: cycles to the next instruction, 105 to 108; whether the scheduler may stay with this warp; the barriers that are set when the result is
/// there and when the operands are read, 7 for none; those that are waited for.
const CONTROL: u128 = 0x1f_ffff << 105;
const CYCLES: u32 = 105;
const STAY: u128 = 1 << 109;
const NO_BARRIER: u128 = 0b111_111 << 110;

/// What is changed: two cycles, a hint to yield, no barrier, no wait, no flag.
const CHANGED: u128 = MULTIPLY_ADD | 2 << CYCLES | NO_BARRIER;

/// The register that is always zero.
const ZERO: u8 = 255;

/// The first operand's reuse flag; those of the others follow.
const REUSE: u32 = 122;
const REUSE_FLAGS: u128 = 7 << REUSE;

/// The bits of an instruction's registers.
const fn registers([d, a, b, c]: [u8; 4]) -> u128 {
    let [first, second, third] = OPERANDS;
    (d as u128) << RESULT | (a as u128) << first | (b as u128) << second | (c as u128) << third
}

/// `d = a * b + c` on pairs of registers, each named by its first.
struct MultiplyAdd {
    d: u8,
    operands: [u8; 3],
}

impl MultiplyAdd {
    fn decode(instruction: u128) -> Option<Self> {
        let byte = |bit: u32| (instruction >> bit) as u8;
        (instruction & MEANING == MULTIPLY_ADD)
            .then(|| Self { d: byte(RESULT), operands: OPERANDS.map(byte) })
    }

    /// The flags of operands that `next` has in the same place, and that this instruction does not replace.
    fn shared_with(&self, next: &Self) -> u128 {
        let pairs = self.operands.iter().zip(&next.operands).enumerate();
        pairs
            .filter(|(_, (mine, other))| mine == other && **mine != ZERO && **mine != self.d)
            .fold(0, |flags, (place, _)| flags | 1 << (REUSE + place as u32))
    }
}

/// The machine code with the flags set, and in how many instructions; `None` where nothing is to be changed: the bytes are no cubin, or one
/// of another architecture or compiler.
pub fn reuse_operands(image: &[u8]) -> Option<(Vec<u8>, usize)> {
    let elf = Elf::parse(image).ok()?;
    if super::architecture(&elf) != ARCHITECTURE || !is_known(maker(&elf)?) {
        return None;
    }
    let mut changed = (image.to_vec(), 0);
    for section in elf.sections.iter().filter(|section| section.name.starts_with(".text.")) {
        // A section without bytes in the file may claim to begin anywhere.
        let start = usize::try_from(section.start).ok()?;
        let end = start.checked_add(section.bytes.len())?;
        if let Some(code) = changed.0.get_mut(start..end) {
            changed.1 += in_code(code);
        }
    }
    (changed.1 > 0).then_some(changed)
}

/// What the assembler says of itself.
fn maker<'a>(elf: &Elf<'a>) -> Option<&'a [u8]> {
    elf.section(MAKER).map(|section| section.bytes)
}

/// Whether one of the zero-terminated texts of a note is the name of a known compiler.
fn is_known(note: &[u8]) -> bool {
    let mut texts = note.split(|&byte| byte == 0);
    texts.any(|text| COMPILERS.iter().any(|known| text == known.as_bytes()))
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
        if first & (MEANING | CONTROL | REUSE_FLAGS) == CHANGED && shared != 0 {
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
        CHANGED | registers([d, a, b, c])
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
    fn other_control_bits_stay() {
        let [one, two] = [multiply_add(10, 2, 4, 10), multiply_add(12, 2, 6, 12)];
        assert_eq!(flags(&[one, two]).0, 1);
        let others = [
            ("another number of cycles", one ^ 1 << CYCLES),
            ("no hint to yield", one | STAY),
            ("a barrier for the result", one ^ 1 << 110),
            ("a barrier for the operands", one ^ 1 << 113),
            ("a wait", one | 1 << 116),
            ("the last wait", one | 1 << 121),
            ("a modifier", one | 1 << 72),
        ];
        for (what, other) in others {
            assert_eq!(flags(&[other, two]).0, 0, "{what}");
        }
        // What the next one waits for is its own affair; another meaning is not.
        assert_eq!(flags(&[one, two | 1 << 116]).0, 1);
        assert_eq!(flags(&[one, two | 1 << 75]).0, 0);
    }

    const CUBIN: &[u8] = include_bytes!("../../tests/data/multiply_add.sm_90.cuda13.cubin");

    #[test]
    fn the_compiler_leaves_flags_out_and_nothing_else_is_changed() {
        let (changed, count) = reuse_operands(CUBIN).expect("the measured compiler");
        assert!(count > 0);
        assert_eq!(changed.len(), CUBIN.len());
        let words = |bytes: &[u8]| -> Vec<u128> {
            bytes.as_chunks().0.iter().map(|&word| u128::from_le_bytes(word)).collect()
        };
        let differing: Vec<_> =
            words(CUBIN).into_iter().zip(words(&changed)).filter(|(before, after)| before != after).collect();
        assert_eq!(differing.len(), count);
        for (before, after) in differing {
            assert_eq!(before & (MEANING | CONTROL | REUSE_FLAGS), CHANGED);
            assert_eq!(before | STAY | REUSE_FLAGS, after | STAY | REUSE_FLAGS);
        }
        // What has the flags needs no more.
        assert_eq!(reuse_operands(&changed), None);
    }

    /// The cubin with `from` replaced by `to` in the note of its maker.
    fn made_by(from: &[u8], to: &[u8]) -> Vec<u8> {
        let mut image = CUBIN.to_vec();
        let at = image.windows(from.len()).position(|window| window == from).expect("the note");
        image[at..at + from.len()].copy_from_slice(to);
        image
    }

    #[test]
    fn the_code_of_other_compilers_and_architectures_stays() {
        for other in [b"V13.0.89", b"V13.1.88", b"V12.0.88"] {
            assert_eq!(reuse_operands(&made_by(b"V13.0.88", other)), None);
        }
        assert_eq!(reuse_operands(&made_by(b".note.nv.tkinfo", b".note.nv.tkinfx")), None);
        let older = include_bytes!("../../tests/data/resources.sm_75.cuda13.cubin");
        assert_eq!(reuse_operands(older), None);
        assert_eq!(reuse_operands(b"no cubin"), None);
    }

    /// The header of the first section whose name begins so.
    fn header(image: &[u8], name: &str) -> usize {
        let sections = Elf::parse(image).expect("a cubin").sections;
        let index = sections.iter().position(|section| section.name.starts_with(name)).expect(name);
        let tables = u64::from_le_bytes(*image[40..].first_chunk().expect("a header"));
        usize::try_from(tables).expect("in the file") + 64 * index
    }

    #[test]
    fn code_without_bytes_in_the_file_may_begin_anywhere() {
        let at = header(CUBIN, ".text.");
        for start in [CUBIN.len() as u64 + 1, u64::MAX] {
            let mut image = CUBIN.to_vec();
            image[at + 4..at + 8].copy_from_slice(&8_u32.to_le_bytes());
            image[at + 24..at + 32].copy_from_slice(&start.to_le_bytes());
            assert_eq!(reuse_operands(&image), None);
        }
    }

    proptest::proptest! {
        /// Whatever is damaged, there is no panic, and the length stays.
        #[test]
        fn damaged_cubins_do_not_panic(
            headers in proptest::collection::vec((0_usize..64 * 20, proptest::num::u8::ANY), 0..12),
            bytes in proptest::collection::vec((proptest::num::usize::ANY, proptest::num::u8::ANY), 0..12),
        ) {
            let mut image = CUBIN.to_vec();
            let tables = usize::from_le_bytes(*image[40..].first_chunk().expect("a header"));
            let length = image.len();
            for (offset, value) in bytes {
                image[offset % length] = value;
            }
            for (offset, value) in headers {
                if let Some(byte) = image.get_mut(tables + offset) {
                    *byte = value;
                }
            }
            if let Some((changed, _)) = reuse_operands(&image) {
                assert_eq!(changed.len(), length);
            }
        }
    }
}
