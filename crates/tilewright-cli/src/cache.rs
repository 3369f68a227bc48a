//! `tilewright cache`: the compiled kernels and programs on disk.

use crate::{
    args::{CacheAction, Common, Format},
    failure::Failure,
    json, terminal, wrapping,
};
use serde::Serialize;
use std::{io, io::Write};
use tilewright::{
    ErrorKind,
    cuda::{CacheInfo, CubinCache, Programs},
};

/// The JSON object of `cache`; the fields are its keys.
#[derive(Serialize)]
struct Report {
    schema: u32,
    /// Machine code of the catalogue's kernels.
    #[serde(flatten)]
    kernels: Part,
    /// What came of files that were compiled.
    programs: Part,
}

/// One of the caches.
#[derive(Serialize)]
struct Part {
    directory: String,
    entries: u64,
    bytes: u64,
    capacity_bytes: u64,
    /// What `clear` removed.
    removed: u64,
    /// Why the directory is not used, where it is not.
    refused: Option<String>,
}

impl Part {
    fn new(info: CacheInfo, removed: u64) -> Self {
        let CacheInfo { directory, entries, bytes, capacity, refused, .. } = info;
        let directory = directory.display().to_string();
        Self { directory, entries, bytes, capacity_bytes: capacity, removed, refused }
    }
}

pub fn run(action: CacheAction, common: &Common) -> Result<(), Failure> {
    let Some((kernels, programs)) = CubinCache::of_user().zip(Programs::of_user()) else {
        let hint = "unset TILEWRIGHT_NO_CACHE, or name a directory in TILEWRIGHT_CACHE_DIR".into();
        let why = "it is disabled, or there is no cache directory".into();
        return Err(Failure::Engine(ErrorKind::Unavailable { what: "the cache", why, hint }.into()));
    };
    let (of_kernels, of_programs) = match action {
        CacheAction::Info => (0, 0),
        CacheAction::Clear => {
            let of_kernels = removed(kernels.info(), kernels.clear())?;
            (of_kernels, removed(programs.info(), programs.clear())?)
        }
    };
    let report = Report {
        schema: 1,
        kernels: Part::new(kernels.info(), of_kernels),
        programs: Part::new(programs.info(), of_programs),
    };
    match common.format {
        Format::Json => json::print(&report),
        Format::Table | Format::Csv => report.print_table(),
    }
}

/// How many entries were removed.
fn removed(before: CacheInfo, cleared: io::Result<CacheInfo>) -> Result<u64, Failure> {
    let path = before.directory;
    cleared.map(|info| info.entries).map_err(|source| Failure::Engine(ErrorKind::Io { path, source }.into()))
}

impl Report {
    fn print_table(&self) -> Result<(), Failure> {
        let mut out = terminal::stdout();
        for (title, part) in [("compiled kernels", &self.kernels), ("\ncompiled files", &self.programs)] {
            writeln!(out, "{title}")?;
            out.write_all(wrapping::rows(part.rows(), 10).as_bytes())?;
        }
        Ok(())
    }
}

impl Part {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let mega = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        let mut rows = vec![
            ("directory", self.directory.clone()),
            ("entries", self.entries.to_string()),
            ("size", format!("{} of at most {}", mega(self.bytes), mega(self.capacity_bytes))),
        ];
        if let Some(why) = &self.refused {
            rows.push(("not used", format!("{why}; remove the directory, and a private one is made")));
        }
        if self.removed > 0 {
            rows.push(("removed", self.removed.to_string()));
        }
        rows
    }
}
