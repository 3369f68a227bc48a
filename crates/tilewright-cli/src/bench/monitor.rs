//! The GPU's clock, power and temperature while it works, from `nvidia-smi`.

use serde::Serialize;
use std::{
    io::Read,
    process::{Child, Command, Stdio},
};

/// Medians over a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Conditions {
    pub clock_hz: f64,
    pub power_watts: f64,
    pub temperature_celsius: f64,
}

/// A program that looks at a GPU ten times a second, until it is asked.
pub struct Monitor(Child);

impl Monitor {
    /// Watches the GPU with this PCI address; `None` where there is no `nvidia-smi`.
    pub fn start(pci_bus_id: &str) -> Option<Self> {
        let child = Command::new("nvidia-smi")
            .args(["--query-gpu=clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader,nounits"])
            .args(["-lms", "100", "-i", pci_bus_id])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        child.ok().map(Self)
    }

    /// Ends it; `None` where it saw nothing.
    pub fn finish(mut self) -> Option<Conditions> {
        // Whatever fails here, the measurement itself stands.
        let _ = self.0.kill();
        let mut text = String::new();
        let read = self.0.stdout.take().map(|mut stdout| stdout.read_to_string(&mut text));
        let _ = self.0.wait();
        read?.ok()?;
        conditions(&text)
    }
}

/// Medians of lines such as `1980, 512.30, 45`. Idle moments before and after are the lowest clocks, and below the median.
fn conditions(text: &str) -> Option<Conditions> {
    let rows: Vec<[f64; 3]> = text.lines().filter_map(row).collect();
    let median = |column: usize| {
        let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    Some(Conditions { clock_hz: median(0)? * 1e6, power_watts: median(1)?, temperature_celsius: median(2)? })
}

fn row(line: &str) -> Option<[f64; 3]> {
    let mut values = line.split(',').map(|word| word.trim().parse::<f64>());
    let mut next = || values.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_what_was_seen() {
        let text = "345, 90.1, 40\n1980, 512.30, 45\n1965, 650.00, 47\n1980, 6";
        let expected = Conditions { clock_hz: 1.965e9, power_watts: 512.3, temperature_celsius: 45.0 };
        assert_eq!(conditions(text), Some(expected));
        assert_eq!(conditions("[N/A], [N/A], 40\n"), None);
        assert_eq!(conditions(""), None);
    }
}
