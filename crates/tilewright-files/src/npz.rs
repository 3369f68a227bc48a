//! NumPy's `.npz`: a zip archive whose members are `.npy` files.

use super::{
    fault::{Fault, bad, excerpt},
    input::Decoded,
    npy,
    shape::Rank,
};
use std::io::{Cursor, Read, Seek, Write};
use tilewright_core::DynRef;
use zip::{
    CompressionMethod, ZipArchive, ZipWriter,
    read::ZipFile,
    result::ZipError,
    write::{SimpleFileOptions, StreamWriter},
};

/// The name of the member that is written when none is given: NumPy's.
const DEFAULT_NAME: &str = "arr_0";

/// Reads the named member, or the only matrix there is.
pub(super) fn read(input: impl Read + Seek, member: Option<&str>, rank: Rank) -> Result<Decoded, Fault> {
    with_member(input, member, rank, |file| read_member(file, rank))
}

/// The bytes of the `.npy` file that the named member is, or the only array there is.
pub(super) fn extract(input: impl Read + Seek, member: Option<&str>) -> Result<Vec<u8>, Fault> {
    with_member(input, member, Rank::Any, |file| {
        check_size(file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| unpacking(e.into()))?;
        Ok(bytes)
    })
}

fn with_member<I: Read + Seek, R>(
    input: I,
    member: Option<&str>,
    rank: Rank,
    read: impl FnOnce(&mut ZipFile<'_, I>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let mut archive = ZipArchive::new(input).map_err(|e| from_zip(e, "not a .npz file"))?;
    let index = match member {
        Some(name) => find(&mut archive, name)?,
        None => only_array(&mut archive, rank)?,
    };
    let mut file = archive.by_index(index).map_err(|e| from_zip(e, "member cannot be opened"))?;
    let name = excerpt(&member_name(&file));
    read(&mut file).map_err(|fault| fault.within(&format!("member '{name}'")))
}

/// Deflate reaches 1032 to 1 at best. A member that promises more is a lie; the memory that is taken for it is in proportion to the file.
fn check_size<R: Read>(file: &ZipFile<'_, R>) -> Result<(), Fault> {
    let most = file.compressed_size().saturating_mul(1032).saturating_add(64);
    if file.size() > most {
        return Err(bad!(
            "{} bytes cannot hold the {} that are promised",
            file.compressed_size(),
            file.size()
        ));
    }
    Ok(())
}

fn read_member<R: Read>(file: &mut ZipFile<'_, R>, rank: Rank) -> Result<Decoded, Fault> {
    let header = npy::Header::read(file).map_err(unpacking)?;
    let found = header.array(rank)?;
    let raw = &found.raw;
    npy::check_length(raw, usize::try_from(file.size()).unwrap_or(usize::MAX).saturating_sub(header.end))?;
    check_size(file)?;
    let matrix = raw.decode(file).map_err(unpacking)?;
    // Reading to the end has the checksum verified, and shows whether anything trails.
    match file.read(&mut [0]).map_err(|e| unpacking(e.into()))? {
        0 => Ok((found.arrange(matrix)?, found.shape.clone(), Some(raw.stored))),
        _ => Err(bad!("the data is longer than its header says")),
    }
}

/// Failures while unpacking are faults of the archive, not of the disk.
fn unpacking(fault: Fault) -> Fault {
    match fault {
        Fault::Io(e) => bad!("cannot be unpacked: {e}"),
        other => other,
    }
}

fn from_zip(error: ZipError, what: &str) -> Fault {
    match error {
        ZipError::Io(e) if e.raw_os_error().is_some() => e.into(),
        other => bad!("{what}: {other}"),
    }
}

/// The member's name without `.npy`, as NumPy shows it.
fn member_name<R: Read>(file: &ZipFile<'_, R>) -> String {
    let name = file.name().unwrap_or_else(|_| String::from_utf8_lossy(file.name_raw()));
    name.strip_suffix(".npy").unwrap_or(&name).to_string()
}

fn find<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<usize, Fault> {
    let exact = archive.index_for_name(name).or_else(|| archive.index_for_name(&format!("{name}.npy")));
    match exact {
        Some(index) => Ok(index),
        None => {
            let members = survey(archive);
            Err(bad!("there is no member '{}'", excerpt(name)).hint(listing(&members)))
        }
    }
}

struct Member {
    index: usize,
    name: String,
    /// What it holds, or why that cannot be told.
    description: String,
    /// Its dimensions, where it holds an array.
    dimensions: Option<usize>,
}

fn survey<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Vec<Member> {
    let mut members = Vec::new();
    for index in 0..archive.len() {
        // One member that cannot be unpacked does not keep the others from being read.
        let Ok(mut file) = archive.by_index(index) else { continue };
        let (description, dimensions) = match npy::Header::read(&mut file) {
            Ok(header) => {
                let shape = header.shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
                let shape = if shape.is_empty() { "a number".to_string() } else { shape };
                (format!("{shape} {}", excerpt(&header.descr)), Some(header.shape.len()))
            }
            Err(_) => ("no array".to_string(), None),
        };
        members.push(Member { index, name: member_name(&file), description, dimensions });
    }
    members
}

/// The only matrix, or the only array that is taken where there is no matrix.
fn only_array<R: Read + Seek>(archive: &mut ZipArchive<R>, rank: Rank) -> Result<usize, Fault> {
    let members = survey(archive);
    let of = |rank: Rank| members.iter().filter(move |m| m.dimensions.is_some_and(|n| rank.takes(n)));
    let rank = if of(Rank::Matrix).next().is_some() { Rank::Matrix } else { rank };
    let mut arrays = of(rank);
    match (arrays.next(), arrays.next()) {
        (Some(only), None) => Ok(only.index),
        (None, _) => Err(bad!("the archive holds no matrix").hint(listing(&members))),
        (Some(_), Some(_)) => Err(bad!("the archive holds several matrices")
            .hint(format!("name one as FILE:NAME; {}", listing(&members)))),
    }
}

fn listing(members: &[Member]) -> String {
    super::listing(members.iter().map(|m| format!("{} ({})", excerpt(&m.name), m.description)))
}

/// What stays of an archive when one of its members is written anew: all others, as they are.
pub(super) struct Kept<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// The file in the archive that is replaced.
    replaced: String,
}

impl<'a> Kept<'a> {
    /// All of the archive but the member `member`.
    pub fn of(bytes: &'a [u8], member: &str) -> Result<Self, Fault> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| {
            bad!("the file is there, and its other members cannot be kept: not a .npz file: {e}")
                .hint("remove it, or leave out the name to replace it")
        })?;
        Ok(Self { archive, replaced: file_name(member) })
    }
}

/// As NumPy calls the file of an array.
fn file_name(member: &str) -> String {
    if member.ends_with(".npy") { member.to_owned() } else { format!("{member}.npy") }
}

/// What is written as a member.
pub(super) struct NewMember<'a> {
    pub name: Option<&'a str>,
    /// Bytes of its elements.
    pub bytes: usize,
    /// Writes it as a `.npy` file.
    pub write: &'a dyn Fn(&mut dyn Write) -> Result<(), Fault>,
}

/// Writes an array beside the members that are kept. Elements are not compressed, as by `numpy.savez`.
pub(super) fn write(
    out: &mut dyn Write,
    m: DynRef<'_>,
    shape: &[usize],
    member: Option<&str>,
    kept: Option<Kept<'_>>,
) -> Result<(), Fault> {
    npy::check_dtype(m.dtype())?;
    let bytes = m.layout().len().unwrap_or(usize::MAX).saturating_mul(m.dtype().size());
    let write = |out: &mut dyn Write| npy::write(out, m, shape);
    write_member(out, &NewMember { name: member, bytes, write: &write }, kept)
}

/// Writes a member beside those that are kept.
pub(super) fn write_member(
    out: &mut dyn Write,
    member: &NewMember<'_>,
    kept: Option<Kept<'_>>,
) -> Result<(), Fault> {
    let mut zip = ZipWriter::new_stream(out);
    match write_members(&mut zip, member, kept) {
        Ok(()) => zip.finish().map(|_| ()).map_err(|e| from_zip(e, "the archive cannot be written")),
        Err(fault) => {
            // Dropping it would try to finish the archive, and complain on stderr.
            std::mem::forget(zip);
            Err(fault)
        }
    }
}

fn write_members(
    zip: &mut ZipWriter<StreamWriter<&mut dyn Write>>,
    member: &NewMember<'_>,
    kept: Option<Kept<'_>>,
) -> Result<(), Fault> {
    let failed = |e| from_zip(e, "the archive cannot be written");
    if let Some(Kept { mut archive, replaced }) = kept {
        for index in 0..archive.len() {
            let file = archive.by_index_raw(index).map_err(failed)?;
            if file.name_raw() != replaced.as_bytes() {
                zip.raw_copy_file(file).map_err(failed)?;
            }
        }
    }
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(member.bytes as u64 >= u64::from(u32::MAX) - LONGEST_START);
    zip.start_file(file_name(member.name.unwrap_or(DEFAULT_NAME)), options).map_err(failed)?;
    (member.write)(zip)
}

/// More than the header of an array takes.
const LONGEST_START: u64 = 1 << 17;
