//! What the GPUs of all ranks did, in the format that chrome://tracing and Perfetto read.

use crate::failure::Failure;
use serde::Serialize;
use std::path::Path;
use tilewright::files;
use tilewright_distributed::devices::Span;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    trace_events: Vec<Event>,
}

/// Work of a GPU, which is a process of the format; a stream is a thread. Times are microseconds.
#[derive(Serialize)]
struct Event {
    name: &'static str,
    ph: &'static str,
    pid: usize,
    tid: &'static str,
    ts: f64,
    dur: f64,
}

/// Writes what was done, in the order of time.
pub fn write(path: &Path, mut spans: Vec<Span>) -> Result<(), Failure> {
    spans.sort_by(|a, b| a.start.total_cmp(&b.start));
    let event = |span: &Span| Event {
        name: span.work.name(),
        ph: "X",
        pid: span.rank,
        tid: if span.is_for_panels { "panels" } else { "rest" },
        ts: 1e6 * span.start,
        dur: 1e6 * (span.end - span.start),
    };
    let document = Document { trace_events: spans.iter().map(event).collect() };
    let json = serde_json::to_string(&document).map_err(std::io::Error::from)?;
    Ok(files::write_bytes(path, json.as_bytes())?)
}
