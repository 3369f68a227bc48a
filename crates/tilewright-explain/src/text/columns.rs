//! Tables: two columns of words, then numbers.

use super::FAINT;

/// The rows below their head, each column as wide as its widest cell.
pub fn table<const N: usize>(head: &[String; N], rows: &[[String; N]]) -> String {
    let mut widths = head.each_ref().map(|cell| cell.len());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.trim_end().chars().count());
        }
    }
    let line = |cells: &[String; N]| {
        let cells = cells.iter().zip(widths).enumerate().map(|(i, (cell, width))| match i {
            0 | 1 => format!("{:<width$}", cell.trim_end()),
            _ => format!("{:>width$}", cell.trim_end()),
        });
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let body: String = rows.iter().map(line).collect();
    format!("{FAINT}{}{FAINT:#}{body}", line(head))
}
