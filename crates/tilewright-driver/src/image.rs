//! What a program gives to be loaded: PTX, or a container that may hold some.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::io::Read;

use tilewright_arch::{Architecture, ComputeCapability, InstructionSet};

use crate::code::Code;
use crate::settings::{self, NewerPtx};

/// What the wrapper of a container begins with, in which the second eight bytes are its address.
const WRAPPER: u32 = 0x4662_43b1;
/// What a container begins with.
const CONTAINER: u32 = 0xba55_ed50;
const ELF: u32 = u32::from_le_bytes(*b"\x7fELF");

/// Bytes of a container's header.
const CONTAINER_HEADER: usize = 16;
/// Bytes of an entry's header that are read.
const ENTRY_HEADER: usize = 64;
const KIND_PTX: u16 = 1;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

/// The largest text that is unpacked.
const MOST_TEXT: usize = 1 << 30;

/// Why nothing is loaded, and what the program is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub code: Code,
    pub why: String,
}

impl Refusal {
    fn new(code: Code, why: impl Into<String>) -> Self {
        Self { code, why: why.into() }
    }

    fn only_machine_code(capability: ComputeCapability) -> Self {
        let number = capability.number();
        Self::new(
            Code::NO_BINARY_FOR_GPU,
            format!(
                "the module holds machine code and no PTX that compute capability {capability} can run, and the emulator executes PTX alone; \
                 compile with -gencode arch=compute_{number},code=compute_{number} as well"
            ),
        )
    }

    fn broken(why: impl Into<String>) -> Self {
        Self::new(Code::INVALID_IMAGE, why)
    }
}

/// The PTX of an image for a device.
///
/// # Safety
/// The image must be whole: sizes in it are believed, and text must end with a zero byte.
pub(crate) unsafe fn ptx<'a>(
    image: *const c_void,
    capability: ComputeCapability,
) -> Result<Cow<'a, str>, Refusal> {
    if image.is_null() {
        return Err(Refusal::new(Code::INVALID_VALUE, "there is no image"));
    }
    // Text may be shorter than the four bytes of a mark; its zero ends the comparison.
    let begins = |mark: u32| {
        // SAFETY: a byte is read only if those before it were those of a mark, none of which is the end of a text.
        mark.to_le_bytes()
            .into_iter()
            .enumerate()
            .all(|(at, byte)| unsafe { image.cast::<u8>().add(at).read() } == byte)
    };
    if begins(WRAPPER) {
        // SAFETY: a wrapper has 24 bytes.
        let container = unsafe { image.cast::<u8>().add(8).cast::<*const u8>().read_unaligned() };
        if container.is_null() {
            return Err(Refusal::broken("the wrapper of a fatbin is empty"));
        }
        // SAFETY: the caller's promise.
        return of_container(unsafe { container_at(container) }?, capability);
    }
    if begins(CONTAINER) {
        // SAFETY: the caller's promise.
        return of_container(unsafe { container_at(image.cast()) }?, capability);
    }
    if begins(ELF) {
        return Err(Refusal::only_machine_code(capability));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(image.cast()) }.to_str();
    let text = text.map_err(|_| Refusal::broken("the image is neither PTX nor a container"))?;
    fits(text, capability).map(|()| Cow::Borrowed(text))
}

/// The PTX of an image whose length is known.
pub(crate) fn ptx_of_bytes(image: &[u8], capability: ComputeCapability) -> Result<Cow<'_, str>, Refusal> {
    match image.first_chunk().map(|mark| u32::from_le_bytes(*mark)) {
        Some(CONTAINER) => of_container(image, capability),
        Some(ELF) => Err(Refusal::only_machine_code(capability)),
        _ => {
            let end = image.iter().position(|&byte| byte == 0).unwrap_or(image.len());
            let text = std::str::from_utf8(&image[..end]);
            let text = text.map_err(|_| Refusal::broken("the image is neither PTX nor a container"))?;
            fits(text, capability).map(|()| Cow::Borrowed(text))
        }
    }
}

/// Whether a text is PTX that this device can run.
fn fits(text: &str, capability: ComputeCapability) -> Result<(), Refusal> {
    let Some(target) = target(text) else {
        return Err(Refusal::broken("the image is neither PTX, which names a .target, nor a container"));
    };
    let takes_newer = settings::read(|settings| settings.newer_ptx) == NewerPtx::Executed;
    if takes_newer || target.runs_on(capability) {
        return Ok(());
    }
    let why = format!("the PTX is for {target}, and the device has compute capability {capability}");
    Err(Refusal::new(Code::NO_BINARY_FOR_GPU, why))
}

/// The bytes of a container.
///
/// # Safety
/// There must be as many as it says.
unsafe fn container_at<'a>(at: *const u8) -> Result<&'a [u8], Refusal> {
    // SAFETY: it has a header at least.
    let header = unsafe { std::slice::from_raw_parts(at, CONTAINER_HEADER) };
    let size = u64_at(header, 8).and_then(|bytes| usize::try_from(bytes).ok());
    let size = size
        .and_then(|bytes| bytes.checked_add(CONTAINER_HEADER))
        .filter(|&bytes| bytes <= isize::MAX as usize);
    let size = size.ok_or_else(|| Refusal::broken("the size of the fatbin is no size"))?;
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(at, size) })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The best PTX of a container.
fn of_container<'a>(container: &[u8], capability: ComputeCapability) -> Result<Cow<'a, str>, Refusal> {
    let cut_off = || Refusal::broken("the fatbin is cut off");
    if u32_at(container, 0) != Some(CONTAINER) {
        return Err(Refusal::broken("the wrapper leads to no fatbin"));
    }
    let mut rest =
        container.get(u16_at(container, 6).map_or(CONTAINER_HEADER, usize::from)..).ok_or_else(cut_off)?;
    let mut best: Option<(u32, String)> = None;
    while rest.len() >= ENTRY_HEADER {
        let header = u32_at(rest, 4).ok_or_else(cut_off)? as usize;
        let size = u64_at(rest, 8).and_then(|size| usize::try_from(size).ok()).ok_or_else(cut_off)?;
        let end = header
            .checked_add(size)
            .filter(|&end| header >= ENTRY_HEADER && end <= rest.len())
            .ok_or_else(cut_off)?;
        if u16_at(rest, 0) == Some(KIND_PTX) {
            let text = text_of(&rest[..header], &rest[header..end])?;
            let rank = target(&text).and_then(|target| rank(target, capability));
            if let Some(rank) = rank.filter(|&rank| best.as_ref().is_none_or(|(known, _)| rank > *known)) {
                best = Some((rank, text));
            }
        }
        rest = &rest[end..];
    }
    best.map(|(_, text)| Cow::Owned(text)).ok_or_else(|| Refusal::only_machine_code(capability))
}

/// The text of an entry, unpacked.
fn text_of(header: &[u8], payload: &[u8]) -> Result<String, Refusal> {
    let broken = || Refusal::broken("the PTX of the fatbin cannot be unpacked");
    let flags = u64_at(header, 40).ok_or_else(broken)?;
    let room =
        u64_at(header, 56).and_then(|bytes| usize::try_from(bytes).ok()).filter(|&bytes| bytes <= MOST_TEXT);
    let packed = || {
        // What is packed may be followed by bytes that fill it up.
        let bytes = u32_at(header, 16)? as usize;
        payload.get(..bytes).filter(|packed| !packed.is_empty())
    };
    let bytes = if flags & LZ4 != 0 {
        let (packed, room) = (packed().ok_or_else(broken)?, room.ok_or_else(broken)?);
        lz4_flex::block::decompress(packed, room).map_err(|_| broken())?
    } else if flags & ZSTD != 0 {
        let mut text = Vec::new();
        let decoder =
            ruzstd::decoding::StreamingDecoder::new(packed().ok_or_else(broken)?).map_err(|_| broken())?;
        decoder.take(MOST_TEXT as u64).read_to_end(&mut text).map_err(|_| broken())?;
        text
    } else {
        payload.to_vec()
    };
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[..end].to_vec()).map_err(|_| broken())
}

/// The `.target` of PTX.
fn target(text: &str) -> Option<Architecture> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    line.split(',').next()?.parse().ok()
}

/// How well PTX suits a device, the more the better; `None` if the device cannot run it.
fn rank(target: Architecture, device: ComputeCapability) -> Option<u32> {
    let number = target.capability.number();
    target.runs_on(device).then_some(match target.instructions {
        InstructionSet::Common => number,
        InstructionSet::FamilySpecific => 1 << 20 | number,
        InstructionSet::ArchitectureSpecific => u32::MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(target: &str) -> String {
        format!(".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n")
    }

    fn entry(kind: u16, flags: u64, packed: &[u8], whole: usize) -> Vec<u8> {
        let mut bytes = vec![0; ENTRY_HEADER];
        bytes[..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&(ENTRY_HEADER as u32).to_le_bytes());
        let size = packed.len().next_multiple_of(8);
        bytes[8..16].copy_from_slice(&(size as u64).to_le_bytes());
        bytes[16..20].copy_from_slice(&(packed.len() as u32).to_le_bytes());
        bytes[40..48].copy_from_slice(&flags.to_le_bytes());
        bytes[56..64].copy_from_slice(&(whole as u64).to_le_bytes());
        bytes.extend_from_slice(packed);
        bytes.resize(ENTRY_HEADER + size, 0);
        bytes
    }

    fn container(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut bytes = CONTAINER.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[1, 0, CONTAINER_HEADER as u8, 0]);
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    fn plain(target: &str) -> Vec<u8> {
        let text = module(target);
        entry(KIND_PTX, 0, text.as_bytes(), 0)
    }

    fn chosen(image: &[u8], capability: (u8, u8)) -> Result<String, Code> {
        let found = ptx_of_bytes(image, ComputeCapability::new(capability.0, capability.1));
        let text = found.map_err(|refusal| refusal.code)?;
        Ok(target(&text).expect("a target").to_string())
    }

    #[test]
    fn the_best_entry_is_taken() {
        let image = container(&["sm_70", "sm_80", "sm_90", "sm_90a", "sm_100f", "sm_100"].map(plain));
        for (capability, target) in [
            ((7, 5), "sm_70"),
            ((8, 6), "sm_80"),
            ((9, 0), "sm_90a"),
            ((10, 0), "sm_100f"),
            ((10, 3), "sm_100f"),
            ((12, 0), "sm_100"),
        ] {
            assert_eq!(chosen(&image, capability).as_deref(), Ok(target), "{capability:?}");
        }
        assert_eq!(chosen(&image, (6, 1)), Err(Code::NO_BINARY_FOR_GPU));
    }

    #[test]
    fn packed_text_is_unpacked() {
        let text = module("sm_80");
        let packed = lz4_flex::block::compress(text.as_bytes());
        let image = container(&[entry(KIND_PTX, LZ4, &packed, text.len())]);
        assert_eq!(chosen(&image, (8, 0)).as_deref(), Ok("sm_80"));
        let packed =
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        let image = container(&[entry(2, ZSTD, b"machine", 7), entry(KIND_PTX, ZSTD, &packed, text.len())]);
        assert_eq!(chosen(&image, (8, 0)).as_deref(), Ok("sm_80"));
    }

    #[test]
    fn machine_code_alone_names_the_flag_to_add() {
        let images = [container(&[entry(2, 0, b"machine", 0)]), b"\x7fELF...".to_vec()];
        for image in images {
            let refusal = ptx_of_bytes(&image, ComputeCapability::new(8, 6)).expect_err("no PTX");
            assert_eq!(refusal.code, Code::NO_BINARY_FOR_GPU);
            assert!(refusal.why.contains("-gencode arch=compute_86,code=compute_86"), "{}", refusal.why);
        }
    }

    #[test]
    fn broken_images_are_refused() {
        let whole = container(&[plain("sm_80")]);
        for end in 0..whole.len() {
            let _ = ptx_of_bytes(&whole[..end], ComputeCapability::new(8, 0));
        }
        for (at, value) in (0..whole.len().min(96)).flat_map(|at| [(at, 0xff), (at, 0x20)]) {
            let mut image = whole.clone();
            image[at] = value;
            let _ = ptx_of_bytes(&image, ComputeCapability::new(8, 0));
        }
        assert_eq!(
            chosen(&container(&[entry(KIND_PTX, LZ4, b"nonsense", 100)]), (8, 0)),
            Err(Code::INVALID_IMAGE)
        );
        assert_eq!(chosen(b"no module", (8, 0)), Err(Code::INVALID_IMAGE));
    }
}
