//! The `.nv.info` sections: what the assembler tells the driver about a kernel, as a list of attributes.
//!
//! Each attribute is a format byte, a code byte, and a value: two bytes, or a 16-bit size and as many bytes.

use super::elf::u16_at;

/// An attribute that is read here. The codes are those that `cuobjdump -elf` prints as `EIATTR_...`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    MaxThreads,
    RequiredThreads,
    FrameSize,
    MinStackSize,
    ParameterSize,
    RegisterCount,
    BarrierCount,
}

const CODES: [(u8, Code); 7] = [
    (0x05, Code::MaxThreads),
    (0x10, Code::RequiredThreads),
    (0x11, Code::FrameSize),
    (0x12, Code::MinStackSize),
    (0x19, Code::ParameterSize),
    (0x2f, Code::RegisterCount),
    (0x4c, Code::BarrierCount),
];

/// The value of an attribute as 32-bit words; short ones are one word.
pub(super) type Words = Vec<u32>;

/// The attributes of a section that are known here, up to the first that is not well-formed.
pub(super) fn attributes(mut bytes: &[u8]) -> Vec<(Code, Words)> {
    let mut found = Vec::new();
    while let (Some(&format), Some(&code), Some(value)) = (bytes.first(), bytes.get(1), u16_at(bytes, 2)) {
        let (words, size) = match format {
            // No value, a byte, and half a word: all in two bytes.
            1 => (Vec::new(), 0),
            2 => (vec![u32::from(value & 0xff)], 0),
            3 => (vec![u32::from(value)], 0),
            4 => {
                let Some(payload) = bytes.get(4..4 + usize::from(value)) else { break };
                let words = payload.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
                (words, usize::from(value))
            }
            _ => break,
        };
        if let Some((_, code)) = CODES.iter().find(|(number, _)| *number == code) {
            found.push((*code, words));
        }
        bytes = &bytes[4 + size..];
    }
    found
}
