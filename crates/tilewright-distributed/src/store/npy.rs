//! One `.npy` file that all ranks write.

use super::place::{Kind, io_error, replace};
use crate::{buffer::Buffer, matrix::DistMatrix};
use std::{
    fs::{File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::Path,
};
use tilewright::{
    DType, Error,
    files::{Spec, check_writable},
};

pub(super) fn write(d: &DistMatrix<'_>, path: &Path) -> Result<(), Error> {
    let (group, header) = (d.grid().world(), header(d.dtype(), d.rows().len, d.cols().len));
    let size = d.dtype().size() as u64;
    let bytes = header.len() as u64 + d.rows().len as u64 * d.cols().len as u64 * size;
    let prepare = |to: &Path| {
        check_writable(&Spec::parse(path)?, d.dtype())?;
        let begin = || {
            let mut file = File::create(to)?;
            file.write_all(&header)?;
            file.set_len(bytes)
        };
        begin().map_err(io_error(path))
    };
    let fill = |to: &Path| {
        let mut file = OpenOptions::new().write(true).open(to).map_err(io_error(path))?;
        let mut room =
            Buffer::zeroed(d.rows().block.saturating_mul(d.cols().block).min(most(d)) * size as usize)?;
        d.visit(|block, part| {
            let (rows, cols) = (block.rows.len(), block.cols.len());
            let mut bytes = core::mem::take(&mut room).fit(rows * cols * size as usize);
            bytes.matrix_mut(d.dtype(), rows, cols)?.copy_from(part)?;
            let line = cols * size as usize;
            let mut rows = || -> io::Result<()> {
                for (row, line) in block.rows.clone().zip(bytes.as_slice().chunks(line)) {
                    let element = row as u64 * d.cols().len as u64 + block.cols.start as u64;
                    file.seek(SeekFrom::Start(header.len() as u64 + element * size))?;
                    file.write_all(line)?;
                }
                Ok(())
            };
            rows().map_err(io_error(path))?;
            room = bytes;
            Ok(())
        })?;
        file.sync_all().map_err(io_error(path))
    };
    replace(group, path, Kind::File, prepare, fill, |_| Ok(()))
}

/// Elements of the largest block of this rank.
fn most(d: &DistMatrix<'_>) -> usize {
    d.blocks().iter().map(|block| block.rows.len() * block.cols.len()).max().unwrap_or(0)
}

/// The header of version 1.0 for a matrix in row-major order.
fn header(dtype: DType, rows: usize, cols: usize) -> Vec<u8> {
    let kind = match dtype {
        DType::Bool => 'b',
        DType::U8 => 'u',
        dtype if dtype.is_float() => 'f',
        _ => 'i',
    };
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "big") => '>',
        _ => '<',
    };
    let mut text = format!(
        "{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': ({rows}, {cols}), }}",
        dtype.size()
    );
    // Magic, version and length are ten bytes, and a newline ends the header.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(core::iter::repeat_n(' ', padded - text.len() - 1));
    text.push('\n');
    // Two sizes have forty digits at most.
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_multiples_of_64() {
        for (dtype, text) in [(DType::F32, "'<f4'"), (DType::Bool, "'|b1'"), (DType::I64, "'<i8'")] {
            let header = header(dtype, 1 << 40, 7);
            assert_eq!(header.len() % 64, 0);
            let found = String::from_utf8_lossy(&header[10..]).into_owned();
            assert!(found.contains(text) && found.contains("(1099511627776, 7)"), "{found}");
        }
    }
}
