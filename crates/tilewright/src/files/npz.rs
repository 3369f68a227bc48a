//! NumPy's `.npz`: a zip archive whose members are `.npy` files.

use super::{
    fault::{Fault, bad, excerpt},
    npy,
};
use crate::DynMatrix;
use std::io::{Read, Seek};
use zip::{ZipArchive, read::ZipFile, result::ZipError};

/// Reads the named member, or the only matrix there is.
pub(super) fn read(input: impl Read + Seek, member: Option<&str>) -> Result<DynMatrix, Fault> {
    let mut archive = ZipArchive::new(input).map_err(|e| from_zip(e, "not a .npz file"))?;
    let index = match member {
        Some(name) => find(&mut archive, name)?,
        None => only_matrix(&mut archive)?,
    };
    let mut file = archive.by_index(index).map_err(|e| from_zip(e, "member cannot be opened"))?;
    let name = excerpt(&member_name(&file));
    read_member(&mut file).map_err(|fault| fault.within(&format!("member '{name}'")))
}

fn read_member<R: Read>(file: &mut ZipFile<'_, R>) -> Result<DynMatrix, Fault> {
    let header = npy::Header::read(file).map_err(unpacking)?;
    let raw = header.matrix()?;
    npy::check_length(&raw, usize::try_from(file.size()).unwrap_or(usize::MAX).saturating_sub(header.end))?;
    // Deflate reaches 1032 to 1 at best. A member that promises more is a lie; the memory taken below is
    // in proportion to the file.
    let most = file.compressed_size().saturating_mul(1032).saturating_add(64);
    if file.size() > most {
        return Err(bad!(
            "{} bytes cannot hold the {} that are promised",
            file.compressed_size(),
            file.size()
        ));
    }
    let matrix = raw.decode(file).map_err(unpacking)?;
    // Reading to the end has the checksum verified, and shows whether anything trails.
    match file.read(&mut [0]).map_err(|e| unpacking(e.into()))? {
        0 => Ok(matrix),
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
    is_matrix: bool,
}

fn survey<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Vec<Member> {
    let mut members = Vec::new();
    for index in 0..archive.len() {
        // One member that cannot be unpacked does not keep the others from being read.
        let Ok(mut file) = archive.by_index(index) else { continue };
        let (description, is_matrix) = match npy::Header::read(&mut file) {
            Ok(header) => {
                let shape = header.shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
                let shape = if shape.is_empty() { "a number".to_string() } else { shape };
                (format!("{shape} {}", excerpt(&header.descr)), header.shape.len() == 2)
            }
            Err(_) => ("no array".to_string(), false),
        };
        members.push(Member { index, name: member_name(&file), description, is_matrix });
    }
    members
}

fn only_matrix<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Result<usize, Fault> {
    let members = survey(archive);
    let mut matrices = members.iter().filter(|m| m.is_matrix);
    match (matrices.next(), matrices.next()) {
        (Some(only), None) => Ok(only.index),
        (None, _) => Err(bad!("the archive holds no matrix").hint(listing(&members))),
        (Some(_), Some(_)) => Err(bad!("the archive holds several matrices")
            .hint(format!("name one as FILE:NAME; {}", listing(&members)))),
    }
}

fn listing(members: &[Member]) -> String {
    super::listing(members.iter().map(|m| format!("{} ({})", excerpt(&m.name), m.description)))
}
