//! What came of compiling files, on disk, so that a second run need not compile again what takes seconds.
//!
//! Entries are kept as compiled kernels are: in a directory that is this user's own, whole or not at all.

use super::{CacheInfo, CacheKey, CubinCache, directory_of_user};
use std::{io, path::PathBuf};

const CAPACITY: u64 = 256 << 20;
const EXTENSION: &str = "texts";

/// The compiled files of a user: PTX, and what the compiler said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs(CubinCache);

impl Programs {
    /// Those of this user, beside the cache of compiled kernels; `None` where that is disabled or has no place.
    pub fn of_user() -> Option<Self> {
        Some(Self::in_directory(directory_of_user()?.join("programs")))
    }

    pub(crate) fn in_directory(directory: PathBuf) -> Self {
        Self(CubinCache { directory, capacity: CAPACITY, extension: EXTENSION })
    }

    /// The texts that were kept for `key`, if they are here and whole.
    pub(crate) fn load(&self, key: CacheKey) -> Option<Vec<Vec<u8>>> {
        apart(&self.0.load(key)?)
    }

    /// Keeps texts for `key`. No failure is one of the caller, who has them.
    pub(crate) fn store(&self, key: CacheKey, texts: &[&[u8]]) {
        let _ = self.0.store(key, &together(texts));
    }

    /// What is here.
    pub fn info(&self) -> CacheInfo {
        self.0.info()
    }

    /// Removes every entry, and says what was removed.
    ///
    /// # Errors
    /// As [`CubinCache::clear`].
    pub fn clear(&self) -> io::Result<CacheInfo> {
        self.0.clear()
    }
}

/// Each with its length before it.
fn together(texts: &[&[u8]]) -> Vec<u8> {
    texts
        .iter()
        .flat_map(|text| (text.len() as u64).to_le_bytes().into_iter().chain(text.iter().copied()))
        .collect()
}

fn apart(mut entry: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    while !entry.is_empty() {
        let (length, rest) = entry.split_first_chunk::<8>()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        texts.push(text.to_vec());
        entry = rest;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_apart_as_they_were_put_together() {
        for texts in [&[][..], &[&b""[..]], &[b"a", b"", b"bc"]] {
            let entry = together(texts);
            assert_eq!(apart(&entry).expect("whole"), texts);
            for end in 1..entry.len() {
                assert!(apart(&entry[..end]).is_none_or(|found| found.len() < texts.len()));
            }
        }
        assert_eq!(apart(&[255; 12]), None);
    }
}
