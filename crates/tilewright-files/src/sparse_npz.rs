//! Matrices that `scipy.sparse.save_npz` wrote: an archive of arrays `format`, `shape`, `data` and, by format, `indices` and `indptr` or `row` and `col`.

use super::{
    edges::EdgeList,
    fault::{Fault, bad, excerpt},
    npy,
    shape::Rank,
};
use std::io::{Read, Seek};
use tilewright_core::Value;
use zip::ZipArchive;

/// Whether the archive has the members of a sparse matrix.
pub(super) fn is_sparse(input: impl Read + Seek) -> bool {
    ZipArchive::new(input).is_ok_and(|archive| {
        ["format.npy", "shape.npy", "data.npy"].iter().all(|name| archive.index_for_name(name).is_some())
    })
}

pub(super) fn read(input: impl Read + Seek) -> Result<EdgeList, Fault> {
    let mut archive = ZipArchive::new(input).map_err(|error| bad!("not a .npz file: {error}"))?;
    let format = text(&mut archive, "format")?;
    let shape = numbers(&mut archive, "shape")?;
    let &[rows, cols] = shape.as_slice() else {
        return Err(bad!("member 'shape': a matrix has two dimensions, not {}", shape.len()));
    };
    if rows != cols {
        return Err(bad!("a {rows}x{cols} matrix is no graph: it has as many rows as columns"));
    }
    let data = values(&mut archive, "data")?;
    let places = match format.as_str() {
        "coo" => {
            let (row, col) = (numbers(&mut archive, "row")?, numbers(&mut archive, "col")?);
            check("row", row.len(), data.len())?;
            check("col", col.len(), data.len())?;
            row.into_iter().zip(col).collect()
        }
        "csr" => compressed(&mut archive, rows, data.len())?,
        "csc" => {
            compressed(&mut archive, cols, data.len())?.into_iter().map(|(col, row)| (row, col)).collect()
        }
        other => {
            return Err(bad!("a sparse matrix in the format '{}' cannot be read", excerpt(other))
                .hint("save it as csr or coo: save_npz(file, a.tocsr())"));
        }
    };
    let places: Vec<(usize, usize)> = places;
    if let Some((row, col)) = places.iter().find(|&&(row, col)| row >= rows || col >= cols) {
        return Err(bad!("element [{row}, {col}] is outside the {rows}x{cols} matrix"));
    }
    let edges = places.into_iter().zip(data).map(|((from, to), weight)| (from, to, weight)).collect();
    Ok(EdgeList { vertices: rows, edges, labels: None, empty: 0 })
}

/// The places of elements whose lines are `indptr` and whose places in them `indices`.
fn compressed<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    lines: usize,
    elements: usize,
) -> Result<Vec<(usize, usize)>, Fault> {
    let (starts, indices) = (numbers(archive, "indptr")?, numbers(archive, "indices")?);
    check("indptr", starts.len(), lines + 1)?;
    check("indices", indices.len(), elements)?;
    let rising = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    if !rising || starts.first() != Some(&0) || starts.last() != Some(&elements) {
        return Err(bad!("member 'indptr': it does not rise from 0 to the {elements} elements"));
    }
    let lines =
        starts.windows(2).enumerate().flat_map(|(line, pair)| std::iter::repeat_n(line, pair[1] - pair[0]));
    Ok(lines.zip(indices).collect())
}

fn check(name: &str, found: usize, expected: usize) -> Result<(), Fault> {
    if found == expected {
        Ok(())
    } else {
        Err(bad!("member '{name}': it has {found} elements, not {expected}"))
    }
}

/// The bytes of a member behind its header.
fn member<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<(npy::Header, Vec<u8>), Fault> {
    let mut file = archive
        .by_name(&format!("{name}.npy"))
        .map_err(|error| bad!("member '{name}': {error}").hint("a file of scipy.sparse.save_npz has it"))?;
    // What is unpacked is limited by what deflate can pack at best; see `npz`.
    let most = file.compressed_size().saturating_mul(1032).saturating_add(64);
    let within = |fault: Fault| match fault {
        Fault::Io(error) => bad!("member '{name}': cannot be unpacked: {error}"),
        other => other.within(&format!("member '{name}'")),
    };
    let header = npy::Header::read(&mut file).map_err(within)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| within(error.into()))?;
    Ok((header, bytes))
}

/// A member of one dimension, or of none.
fn values<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<Vec<Value>, Fault> {
    let (mut header, bytes) = member(archive, name)?;
    let within = |fault: Fault| fault.within(&format!("member '{name}'"));
    if header.shape.len() > 1 {
        return Err(bad!("member '{name}': it has {} dimensions, not one", header.shape.len()));
    }
    header.shape = vec![header.shape.first().copied().unwrap_or(1), 1];
    let raw = header.array(Rank::Matrix).map_err(within)?.raw;
    npy::check_length(&raw, bytes.len()).map_err(within)?;
    let matrix = raw.decode(&mut bytes.as_slice()).map_err(within)?;
    let view = matrix.as_ref();
    Ok((0..view.layout().rows).filter_map(|i| view.get(i, 0)).collect())
}

fn numbers<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<Vec<usize>, Fault> {
    let number = |value: Value| match value {
        Value::Int(x) => usize::try_from(x).ok(),
        _ => None,
    };
    let numbers: Option<Vec<usize>> = values(archive, name)?.into_iter().map(number).collect();
    numbers.ok_or_else(|| bad!("member '{name}': its elements are not all whole and positive numbers"))
}

fn text<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<String, Fault> {
    let (_, bytes) = member(archive, name)?;
    // Bytes, or characters of 32 bits.
    Ok(bytes.iter().filter(|&&byte| byte != 0).map(|&byte| char::from(byte)).collect())
}
