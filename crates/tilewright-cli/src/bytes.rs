//! Sizes of memory as people write them.

/// Bytes in the largest unit of which there is one.
pub fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        b if b >= (1_u64 << 30) as f64 => format!("{:.1} GiB", b / (1_u64 << 30) as f64),
        b if b >= (1_u64 << 20) as f64 => format!("{:.1} MiB", b / (1_u64 << 20) as f64),
        b => format!("{:.1} KiB", b / 1024.0),
    }
}
