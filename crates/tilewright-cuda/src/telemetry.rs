//! Clock, power and temperature of a device, as `nvidia-smi` tells: what a measurement must be read with.

use crate::device::DeviceInfo;
use std::process::{Command, Stdio};
use tilewright_core::{Error, ErrorKind};

/// The state of a device at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Telemetry {
    /// The clock of the multiprocessors.
    pub clock_hz: f64,
    /// The power that the board draws.
    pub power_watts: f64,
    /// The temperature of the chip.
    pub temperature_celsius: f64,
}

impl Telemetry {
    /// Asks `nvidia-smi`, which takes some tens of milliseconds: before or after what is measured.
    ///
    /// # Errors
    /// `unavailable` where the program is missing or does not know.
    pub fn read(device: &DeviceInfo) -> Result<Self, Error> {
        let unavailable = |why: String| -> Error {
            let hint = "it comes with NVIDIA's driver".into();
            ErrorKind::Unavailable { what: "nvidia-smi", why, hint }.into()
        };
        let answer = Command::new("nvidia-smi")
            .arg(format!("--id={}", device.pci_bus_id))
            .args(["--query-gpu=clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader,nounits"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| unavailable(error.to_string()))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        parse(&text).ok_or_else(|| unavailable(format!("it answers {:?}", text.trim())))
    }
}

/// Megahertz, watts and degrees, separated by commas.
fn parse(line: &str) -> Option<Telemetry> {
    let mut numbers = line.trim().split(',').map(|field| field.trim().parse::<f64>().ok());
    let mut next = || numbers.next().flatten();
    Some(Telemetry { clock_hz: next()? * 1e6, power_watts: next()?, temperature_celsius: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        let expected = Telemetry { clock_hz: 1.98e9, power_watts: 103.95, temperature_celsius: 31.0 };
        assert_eq!(parse("1980, 103.95, 31\n"), Some(expected));
        assert_eq!(parse("[N/A], 103.95, 31"), None);
        assert_eq!(parse(""), None);
    }
}
