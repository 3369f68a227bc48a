//! As much of the ELF format as cubins use: 64-bit, little-endian, sections and symbols. Every read is checked.

use super::InvalidCubin;

/// `EM_CUDA`.
const MACHINE: u16 = 190;
/// `SHT_SYMTAB` and `SHT_NOBITS`.
const SYMBOL_TABLE: u32 = 2;
const NO_BITS: u32 = 8;
const SECTION_HEADER: usize = 64;
const SYMBOL: usize = 24;

/// A cubin's sections and symbols.
pub(super) struct Elf<'a> {
    pub(super) os_abi: u8,
    pub(super) flags: u32,
    pub(super) sections: Vec<Section<'a>>,
    pub(super) symbols: Vec<Symbol<'a>>,
}

pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    pub(super) flags: u64,
    pub(super) info: u32,
    /// Its size when loaded, also without bytes in the file.
    pub(super) size: u64,
    /// Its bytes in the file.
    pub(super) bytes: &'a [u8],
    /// Where they begin.
    pub(super) start: u64,
    kind: u32,
    link: u32,
}

pub(super) struct Symbol<'a> {
    pub(super) name: &'a str,
    /// Type in the lower four bits.
    pub(super) info: u8,
    pub(super) other: u8,
}

impl<'a> Elf<'a> {
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, InvalidCubin> {
        if !file.starts_with(b"\x7fELF") {
            return Err(InvalidCubin("it does not begin like an ELF file"));
        }
        // Class 2 is 64-bit, data 1 little-endian.
        if file.get(4..6) != Some(&[2, 1]) || u16_at(file, 18) != Some(MACHINE) {
            return Err(InvalidCubin("it is an ELF file, but not one for NVIDIA GPUs"));
        }
        Self::read(file).ok_or(InvalidCubin("its tables reach beyond its end"))
    }

    fn read(file: &'a [u8]) -> Option<Self> {
        let (os_abi, flags) = (*file.get(7)?, u32_at(file, 48)?);
        let (start, count, names) = (u64_at(file, 40)?, u16_at(file, 60)?, u16_at(file, 62)?);
        let headers = bytes_at(file, start, u64::from(count) * SECTION_HEADER as u64)?;
        let headers: Vec<&[u8]> = headers.chunks_exact(SECTION_HEADER).collect();
        let names = contents(file, headers.get(usize::from(names))?)?;
        let sections =
            headers.iter().map(|header| section(file, header, names)).collect::<Option<Vec<_>>>()?;
        let mut symbols = Vec::new();
        if let Some(table) = sections.iter().find(|section| section.kind == SYMBOL_TABLE) {
            let names = sections.get(usize::try_from(table.link).ok()?)?.bytes;
            for entry in table.bytes.chunks_exact(SYMBOL) {
                let name = string_at(names, u32_at(entry, 0)?)?;
                symbols.push(Symbol { name, info: *entry.get(4)?, other: *entry.get(5)? });
            }
        }
        Some(Self { os_abi, flags, sections, symbols })
    }

    pub(super) fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }
}

fn section<'a>(file: &'a [u8], header: &[u8], names: &'a [u8]) -> Option<Section<'a>> {
    Some(Section {
        name: string_at(names, u32_at(header, 0)?)?,
        kind: u32_at(header, 4)?,
        flags: u64_at(header, 8)?,
        size: u64_at(header, 32)?,
        link: u32_at(header, 40)?,
        info: u32_at(header, 44)?,
        bytes: contents(file, header)?,
        start: u64_at(header, 24)?,
    })
}

/// The bytes of a section; none where it has none in the file.
fn contents<'a>(file: &'a [u8], header: &[u8]) -> Option<&'a [u8]> {
    match u32_at(header, 4)? {
        0 | NO_BITS => Some(&[]),
        _ => bytes_at(file, u64_at(header, 24)?, u64_at(header, 32)?),
    }
}

/// The zero-terminated text that begins at `offset`.
fn string_at(table: &[u8], offset: u32) -> Option<&str> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

fn bytes_at(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
}

pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(offset..)?.first_chunk().copied()?))
}

pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(offset..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(offset..)?.first_chunk().copied()?))
}
