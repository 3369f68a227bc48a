//! The PTX of kernels, compressed: for GPUs and machines without a compiler at hand.
//!
//! What there is, and when it is used, is for `tilewright-kernels` to say. A program is found by its name and by the key of its source:
//! PTX that was made from another source is not found.
//!
//! ```
//! assert_eq!(tilewright_ptx::find("no-such-program", 0), None);
//! ```

mod archive;

pub use archive::{Archive, Program};

use std::sync::LazyLock;

static SHIPPED: LazyLock<Archive> = LazyLock::new(|| Archive::read(include_bytes!("../programs.archive")));

/// The PTX of a program that was made from the source with this key. It is decompressed when it is first asked for.
pub fn find(name: &str, key: u64) -> Option<&'static str> {
    SHIPPED.find(name, key)
}

/// The names of all programs.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.names()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_can_be_read() {
        assert!(names().count() > 0);
        for entry in SHIPPED.entries() {
            let ptx = find(entry.name, entry.key).unwrap_or_else(|| panic!("{} is damaged", entry.name));
            assert!(ptx.contains(".visible .entry ") && ptx.ends_with('\n'), "{}", entry.name);
            assert_eq!(find(entry.name, !entry.key), None);
        }
    }

    /// All semirings on all types, products, closures and stops of paths, are to fit into 1.15 MB. Floats of 8 bits take 61 KB of that, for three types of results.
    #[test]
    fn programs_are_small() {
        let bytes = include_bytes!("../programs.archive").len();
        let largest = SHIPPED.entries().iter().map(|entry| entry.bytes.len()).max();
        assert!(bytes < 1_150_000 && largest < Some(25_000), "{bytes} bytes, the largest {largest:?}");
    }
}
