//! `tilewright cache`: the compiled kernels on disk.

use crate::{
    args::{CacheAction, Common, Format},
    failure::Failure,
    fit, json, terminal,
};
use serde::Serialize;
use std::io::Write;
use tilewright::{
    ErrorKind,
    cuda::{CacheInfo, CubinCache},
};

/// The JSON object of `cache`; the fields are its keys.
#[derive(Serialize)]
struct Report {
    schema: u32,
    directory: String,
    entries: u64,
    bytes: u64,
    capacity_bytes: u64,
    /// What `clear` removed.
    removed: u64,
    /// Why the directory is not used, where it is not.
    refused: Option<String>,
}

pub fn run(action: CacheAction, common: &Common) -> Result<(), Failure> {
    let Some(cache) = CubinCache::of_user() else {
        let hint = "unset TILEWRIGHT_NO_CACHE, or name a directory in TILEWRIGHT_CACHE_DIR".into();
        let why = "it is disabled, or there is no cache directory".into();
        return Err(Failure::Engine(ErrorKind::Unavailable { what: "the cache", why, hint }.into()));
    };
    let removed = match action {
        CacheAction::Info => 0,
        CacheAction::Clear => clear(&cache)?.entries,
    };
    let CacheInfo { directory, entries, bytes, capacity, refused, .. } = cache.info();
    let directory = directory.display().to_string();
    let report = Report { schema: 1, directory, entries, bytes, capacity_bytes: capacity, removed, refused };
    match common.format {
        Format::Json => json::print(&report),
        Format::Table | Format::Csv => report.print_table(),
    }
}

fn clear(cache: &CubinCache) -> Result<CacheInfo, Failure> {
    let path = cache.info().directory;
    cache.clear().map_err(|source| Failure::Engine(ErrorKind::Io { path, source }.into()))
}

impl Report {
    fn print_table(&self) -> Result<(), Failure> {
        let mut out = terminal::stdout();
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
        Ok(out.write_all(fit::rows(rows, 10).as_bytes())?)
    }
}
