//! Arrays of a NumPy archive: unsigned integers and texts.

use std::{collections::HashMap, fs::File, io::Read, path::Path};

/// An array, its elements as numbers.
#[derive(Clone, Debug)]
pub struct Array {
    pub shape: Vec<usize>,
    pub words: Vec<u64>,
}

impl Array {
    /// The elements at one index of the first dimension.
    pub fn at(&self, index: usize) -> Array {
        let length: usize = self.shape[1..].iter().product();
        Array { shape: self.shape[1..].to_vec(), words: self.words[index * length..][..length].to_vec() }
    }

    /// The characters of a text.
    pub fn text(&self) -> String {
        self.words.iter().filter(|&&c| c != 0).map(|&c| char::from_u32(c as u32).unwrap()).collect()
    }
}

/// All arrays of a file, by name.
pub fn read(path: &Path) -> HashMap<String, Array> {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut member = archive.by_index(index).unwrap();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            (member.name().unwrap().strip_suffix(".npy").unwrap().to_owned(), array(&bytes))
        })
        .collect()
}

fn array(bytes: &[u8]) -> Array {
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    let between = |from: &str, to: &str| {
        let rest = &header[header.find(from).unwrap() + from.len()..];
        rest[..rest.find(to).unwrap()].to_owned()
    };
    let (descr, shape) = (between("'descr': '", "'"), between("'shape': (", ")"));
    let shape: Vec<usize> = shape.split(',').filter_map(|extent| extent.trim().parse().ok()).collect();
    // A text is an array of its characters, 4 bytes each.
    let (size, last) = match descr.strip_prefix("<U") {
        Some(length) => (4, Some(length.parse().unwrap())),
        None => (descr[2..].parse().unwrap(), None),
    };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let words = bytes[10 + length..].chunks_exact(size).map(word).collect();
    Array { shape: shape.into_iter().chain(last).collect(), words }
}
