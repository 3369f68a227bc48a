//! Compiled kernels on disk, so that a second process does not compile again.
//!
//! Promises:
//! * An entry is used only if its name, length and checksums fit; anything else is a miss, and is removed.
//! * Entries appear whole (written beside, then renamed), so that processes need no lock.
//! * Directory and entries belong to the effective user, and nobody else can write to them: machine code that others can place is code that others can run. A
//!   directory that is not so is never made so, because what lies there may be someone else's: nothing is read from it or written to it.
//! * No symbolic link is followed.
//! * The size is bounded; what was not used for longest goes first.
//! * No failure of the cache is a failure of the caller.
//!
//! The checksum guards against damage, not against an attacker who can write to the directory.

mod checks;
mod file;
mod private;
mod programs;

pub use checks::Checks;
pub use file::cached_file;
pub use programs::Programs;

use crate::nvrtc::{NvrtcBuild, Output, Source};
use etcetera::BaseStrategy;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The directory for all caches, in place of the user's cache directory.
const DIRECTORY_VARIABLE: &str = "TILEWRIGHT_CACHE_DIR";
/// Set to anything but 0 to do without.
const DISABLE_VARIABLE: &str = "TILEWRIGHT_NO_CACHE";
/// 2,000 kernels or so.
const CAPACITY: u64 = 256 << 20;
/// What an entry begins with; a change of the format changes it.
const MAGIC: &[u8; 8] = b"TWCUBIN2";
const DIGEST: usize = 32;
const EXTENSION: &str = "cubin";
/// Temporary files of processes that died.
const TEMPORARY: &str = ".new-";
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// What a compiled kernel depends on, as a SHA-256 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey([u8; DIGEST]);

impl CacheKey {
    /// The key of `source` compiled for `target` (such as `sm_90a`) by this build of the compiler with these options.
    pub fn new(
        source: &Source<'_>,
        target: &str,
        output: Output,
        options: &[&str],
        compiler: NvrtcBuild,
    ) -> Self {
        let output = match output {
            Output::Cubin => "cubin",
            Output::Ptx => "ptx",
        };
        let texts = [source.name, source.text, target, output].into_iter();
        let texts = texts.chain(source.headers.iter().flat_map(|(name, text)| [*name, *text]));
        let mut hash = Sha256::new();
        hash.update(compiler.0);
        // Lengths keep the texts apart, and the number of headers keeps them apart from the options.
        hash.update((source.headers.len() as u64).to_le_bytes());
        for text in texts.chain(options.iter().copied()) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        Self(hash.finalize().into())
    }

    /// The key of something that a text says all of.
    pub fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    fn file_name(self, extension: &str) -> String {
        use std::fmt::Write;
        let mut name = String::with_capacity(2 * DIGEST + extension.len() + 1);
        for byte in self.0 {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name + "." + extension
    }
}

/// A directory of compiled kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CubinCache {
    directory: PathBuf,
    capacity: u64,
    extension: &'static str,
}

/// What a cache holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheInfo {
    /// Where it is.
    pub directory: PathBuf,
    /// The number of entries.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes at which entries are removed.
    pub capacity: u64,
    /// Why the directory is not used, where it is not.
    pub refused: Option<String>,
}

impl CubinCache {
    /// The cache of this user: in `TILEWRIGHT_CACHE_DIR`, or in the user's cache directory. None where `TILEWRIGHT_NO_CACHE` is
    /// set or there is no such directory. Nothing is written yet.
    pub fn of_user() -> Option<Self> {
        Some(Self::new(directory_of_user()?.join("cubins"), CAPACITY))
    }

    /// A cache in `directory`, which belongs to it alone, of at most `capacity` bytes.
    ///
    /// ```
    /// # let directory = std::env::temp_dir().join("tilewright-doc-cache");
    /// use tilewright_toolchain::CubinCache;
    /// let cache = CubinCache::new(directory, 64 << 20);
    /// assert_eq!(cache.info().entries, 0);
    /// ```
    pub fn new(directory: PathBuf, capacity: u64) -> Self {
        Self::of_kind(directory, capacity, EXTENSION)
    }

    /// The same for something else than machine code, in files with another extension.
    pub fn of_kind(directory: PathBuf, capacity: u64, extension: &'static str) -> Self {
        Self { directory, capacity, extension }
    }

    /// The machine code for `key`, if it is here and whole.
    pub fn load(&self, key: CacheKey) -> Option<Vec<u8>> {
        if private::trouble_with_directory(&self.directory).is_some() {
            return None;
        }
        let path = self.directory.join(key.file_name(self.extension));
        let mut file = private::open(&path)?;
        let mut entry = Vec::new();
        file.read_to_end(&mut entry).ok()?;
        match payload(&entry, key) {
            Some(image) => {
                // For the order of removal. Without it entries go by age.
                let _ = file.set_modified(SystemTime::now());
                Some(image.to_vec())
            }
            None => {
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps the machine code for `key`.
    ///
    /// # Errors
    /// Where the directory cannot be made or written, or is not private. Callers that have the image need not care.
    pub fn store(&self, key: CacheKey, image: &[u8]) -> io::Result<()> {
        private::make_directory(&self.directory)?;
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.directory)?;
        file.write_all(MAGIC)?;
        file.write_all(&key.0)?;
        file.write_all(&Sha256::digest(image))?;
        file.write_all(image)?;
        file.persist(self.directory.join(key.file_name(self.extension))).map_err(|error| error.error)?;
        self.evict();
        Ok(())
    }

    /// The contents of all entries that are whole, in no order.
    pub fn all(&self) -> Vec<Vec<u8>> {
        let contents = |entry: Entry| {
            let mut bytes = Vec::new();
            private::open(&entry.path)?.read_to_end(&mut bytes).ok()?;
            let key = bytes.get(MAGIC.len()..)?.first_chunk::<DIGEST>().copied()?;
            Some(payload(&bytes, CacheKey(key))?.to_vec())
        };
        self.entries().into_iter().filter_map(contents).collect()
    }

    /// What is here.
    pub fn info(&self) -> CacheInfo {
        let entries = self.entries();
        CacheInfo {
            directory: self.directory.clone(),
            entries: entries.len() as u64,
            bytes: entries.iter().map(|entry| entry.bytes).sum(),
            capacity: self.capacity,
            refused: private::trouble_with_directory(&self.directory),
        }
    }

    /// Removes every entry, and says what was removed. Files that are not entries stay.
    ///
    /// # Errors
    /// The first file that cannot be removed; a directory that is not this user's own, of which nothing is removed.
    pub fn clear(&self) -> io::Result<CacheInfo> {
        let (info, mut first_failure) = (self.info(), Ok(()));
        if let Some(why) = info.refused {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        for entry in self.entries() {
            first_failure = first_failure.and(remove(&entry.path));
        }
        first_failure.map(|()| info)
    }

    /// Makes room: down to three quarters of the capacity, so that it is not needed again at once.
    fn evict(&self) {
        self.remove_abandoned();
        let mut entries = self.entries();
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        if bytes <= self.capacity {
            return;
        }
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if bytes <= self.capacity / 4 * 3 {
                break;
            }
            if remove(&entry.path).is_ok() {
                bytes -= entry.bytes;
            }
        }
    }

    fn entries(&self) -> Vec<Entry> {
        self.files()
            .filter(|entry| entry.path.extension().is_some_and(|extension| extension == self.extension))
            .collect()
    }

    fn remove_abandoned(&self) {
        let is_temporary =
            |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY));
        for file in self.files().filter(|file| is_temporary(&file.path)) {
            if file.used.elapsed().is_ok_and(|age| age > ABANDONED_AFTER) {
                let _ = remove(&file.path);
            }
        }
    }

    /// None of a directory that is not this user's own.
    fn files(&self) -> impl Iterator<Item = Entry> {
        let is_own = private::trouble_with_directory(&self.directory).is_none();
        let files = is_own.then(|| fs::read_dir(&self.directory)).into_iter().flatten().flatten().flatten();
        files.filter_map(|file| {
            let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Entry { path: file.path(), bytes: metadata.len(), used: metadata.modified().ok()? })
        })
    }
}

/// The directory of all caches of this user, if there are to be any.
pub fn directory_of_user() -> Option<PathBuf> {
    if std::env::var_os(DISABLE_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0") {
        return None;
    }
    match std::env::var_os(DIRECTORY_VARIABLE).filter(|value| !value.is_empty()) {
        Some(directory) => Some(PathBuf::from(directory)),
        None => Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("tilewright")),
    }
}

struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// The image in an entry, if the entry is what its name says.
fn payload(entry: &[u8], key: CacheKey) -> Option<&[u8]> {
    let rest = entry.strip_prefix(MAGIC)?.strip_prefix(&key.0)?;
    let (digest, image) = rest.split_at_checked(DIGEST)?;
    (Sha256::digest(image)[..] == *digest).then_some(image)
}

/// Another process may have been faster.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests;
