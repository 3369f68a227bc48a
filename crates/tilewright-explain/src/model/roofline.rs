//! Arithmetic against memory traffic.

use serde::Serialize;
use tilewright_arch::{Bound, Roofline};

/// Floating-point operations per byte, by what is counted as a byte; `None` where nothing is moved.
///
/// Traffic of DRAM lies between the last two: caches are not modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Intensity {
    /// Per byte that lanes ask global memory for.
    #[serde(rename = "flop_per_requested_byte")]
    pub per_requested_byte: Option<f64>,
    /// Per byte of the sectors that requests touch: no cache at all.
    #[serde(rename = "flop_per_sector_byte")]
    pub per_sector_byte: Option<f64>,
    /// Per byte of the sectors that are touched at least once: a cache that never forgets.
    #[serde(rename = "flop_per_compulsory_byte")]
    pub compulsory: Option<f64>,
}

impl Intensity {
    /// From operations and the three counts of bytes.
    pub fn new(flops: u64, requested: u64, sectors: u64, compulsory: u64) -> Self {
        let per = |bytes: u64| (bytes > 0).then(|| flops as f64 / bytes as f64);
        Self {
            per_requested_byte: per(requested),
            per_sector_byte: per(sectors),
            compulsory: per(compulsory),
        }
    }
}

/// What the roofline allows at an intensity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RooflinePosition {
    /// The kind of arithmetic whose peak is the flat part.
    pub rate: &'static str,
    /// What its operations are called: `FLOP`, or `OP` for integers.
    pub operation: &'static str,
    /// Operations per second.
    #[serde(rename = "peak_operations_per_second")]
    pub peak_per_second: f64,
    /// Bytes per second.
    pub bandwidth_bytes_per_second: f64,
    /// Operations per byte at which arithmetic becomes the limit.
    #[serde(rename = "ridge_operations_per_byte")]
    pub ridge: f64,
    /// Attainable operations per second if every sector comes from memory.
    #[serde(rename = "attainable_operations_per_second_without_cache")]
    pub attainable_without_cache: f64,
    /// Attainable operations per second if every sector comes from memory once.
    #[serde(rename = "attainable_operations_per_second_with_perfect_cache")]
    pub attainable_with_perfect_cache: f64,
    /// The limit in that last case: `memory` or `arithmetic`.
    pub bound: &'static str,
}

impl RooflinePosition {
    /// The position of a kernel; `None` where it does not compute or does not touch global memory.
    pub fn new(rate: tilewright_arch::Rate, roofline: &Roofline, intensity: &Intensity) -> Option<Self> {
        let (without, perfect) = (intensity.per_sector_byte?, intensity.compulsory?);
        (perfect > 0.0).then(|| Self {
            rate: rate.name(),
            operation: rate.operation(),
            peak_per_second: roofline.peak,
            bandwidth_bytes_per_second: roofline.bandwidth,
            ridge: roofline.ridge(),
            attainable_without_cache: roofline.attainable(without),
            attainable_with_perfect_cache: roofline.attainable(perfect),
            bound: match roofline.bound(perfect) {
                Bound::Memory => "memory",
                Bound::Arithmetic => "arithmetic",
            },
        })
    }
}
