//! The archive's format: a line for each program with its name, key and compressed length, an empty line, and the programs one behind
//! the other, each a zlib stream.

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use std::{
    fmt::Write as _,
    io::{self, Read, Write},
    sync::OnceLock,
};

/// The text of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program<'a> {
    /// Its name.
    pub name: &'a str,
    /// The key of the source that it was made from.
    pub key: u64,
    /// PTX.
    pub text: &'a str,
}

/// Programs, each decompressed when it is first asked for.
#[derive(Debug)]
pub struct Archive {
    entries: Vec<Entry>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub name: &'static str,
    pub key: u64,
    pub bytes: &'static [u8],
    text: OnceLock<Option<String>>,
}

impl Archive {
    /// The bytes of an archive.
    ///
    /// # Errors
    /// Those of the compressor, which has none where it writes to memory.
    pub fn write(programs: &[Program<'_>]) -> io::Result<Vec<u8>> {
        let (mut lines, mut streams) = (String::new(), Vec::new());
        for Program { name, key, text } in programs {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(text.as_bytes())?;
            let stream = encoder.finish()?;
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{name} {key:016x} {}", stream.len());
            streams.extend(stream);
        }
        Ok([lines.as_bytes(), b"\n", &streams].concat())
    }

    /// The programs of an archive: those before the first that is damaged.
    pub fn read(bytes: &'static [u8]) -> Self {
        let (mut entries, mut rest) = (Vec::new(), bytes);
        let mut lines = Vec::new();
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        for (name, key, length) in lines.into_iter().map_while(fields) {
            let Some((stream, behind)) = rest.split_at_checked(length) else { break };
            entries.push(Entry { name, key, bytes: stream, text: OnceLock::new() });
            rest = behind;
        }
        Self { entries }
    }

    /// The text of a program that was made from the source with this key.
    pub fn find(&self, name: &str, key: u64) -> Option<&str> {
        let entry = self.entries.iter().find(|entry| (entry.name, entry.key) == (name, key))?;
        entry.text.get_or_init(|| decompressed(entry.bytes).ok()).as_deref()
    }

    /// The names of all programs.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.name)
    }

    #[cfg(test)]
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Name, key and length of a line.
fn fields(line: &'static [u8]) -> Option<(&'static str, u64, usize)> {
    let mut fields = std::str::from_utf8(line).ok()?.split(' ');
    let (name, key, length) = (fields.next()?, fields.next()?, fields.next()?);
    Some((name, u64::from_str_radix(key, 16).ok()?, length.parse().ok()?))
}

fn decompressed(bytes: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    ZlibDecoder::new(bytes).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAMS: [Program<'_>; 3] = [
        Program { name: "a.f32", key: 1, text: "one\n" },
        Program { name: "b.f32", key: 2, text: "two\n\ntwo\n" },
        Program { name: "b.f64", key: u64::MAX, text: "" },
    ];

    fn leaked() -> &'static mut [u8] {
        Archive::write(&PROGRAMS).expect("written").leak()
    }

    #[test]
    fn what_is_written_is_read() {
        let archive = Archive::read(leaked());
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a.f32", "b.f32", "b.f64"]);
        for Program { name, key, text } in PROGRAMS {
            assert_eq!(archive.find(name, key), Some(text));
            assert_eq!(archive.find(name, key - 1), None);
        }
        assert_eq!(archive.find("c.f32", 1), None);
    }

    #[test]
    fn what_is_damaged_is_not_found() {
        let whole = leaked();
        for length in 0..whole.len() {
            let cut = Archive::read(whole[..length].to_vec().leak());
            for Program { name, key, text } in PROGRAMS {
                assert!(cut.find(name, key).is_none_or(|found| found == text));
            }
        }
        let last = whole.len() - 1;
        whole[last] ^= 1;
        assert_eq!(Archive::read(whole).find("b.f64", u64::MAX), None);
    }
}
