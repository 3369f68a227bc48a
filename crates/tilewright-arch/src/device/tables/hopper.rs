//! Hopper: compute capability 9.0.

use super::{BLANK, Device, DeviceClass, TensorCores, cc};
use crate::Rate::{self, F32, F64, TensorBf16, TensorF8, TensorF16, TensorF64, TensorI8, TensorTf32};

const H100: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(9, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA H100 whitepaper and data sheet",
    ..BLANK
};

const H200: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(9, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA H200 data sheet; L2 as in the H100 whitepaper (the driver reports 60 MiB)",
    ..BLANK
};

const GH200: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(9, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA GH200 Grace Hopper Superchip data sheet",
    ..BLANK
};

/// Data sheet of H100 SXM, H200 SXM and GH200, halved where it counts sparsity.
const SXM_PEAKS: &[(Rate, f64)] = &[
    (F32, 67.0),
    (F64, 34.0),
    (TensorF64, 67.0),
    (TensorTf32, 494.7),
    (TensorF16, 989.4),
    (TensorBf16, 989.4),
    (TensorF8, 1978.9),
    (TensorI8, 1978.9),
];

/// Data sheet of H100 NVL and H200 NVL, halved where it counts sparsity.
const NVL_PEAKS: &[(Rate, f64)] = &[
    (F32, 60.0),
    (F64, 30.0),
    (TensorF64, 60.0),
    (TensorTf32, 417.5),
    (TensorF16, 835.5),
    (TensorBf16, 835.5),
    (TensorF8, 1670.5),
    (TensorI8, 1670.5),
];

#[rustfmt::skip]
pub(super) const H200_SXM: Device =
    H200.row("H200 SXM",   "GH100", 132, (   0, 1980), (141, 4800.0,  51200),
        SXM_PEAKS).tensor_clock(1830).gpcs(8, 18).aliases(&["H200"]);

#[rustfmt::skip]
pub(super) const DEVICES: &[Device] = &[
    // name, chip, SMs, (base, boost MHz), (GB, GB/s, L2 KiB), published peaks
    H100.row("H100 SXM5",  "GH100", 132, (   0, 1980), ( 80, 3352.0,  51200),
        SXM_PEAKS).tensor_clock(1830).gpcs(8, 18).aliases(&["H100", "H100 SXM", "H100 80GB HBM3"]),
    H100.row("H100 PCIe",  "GH100", 114, (1095, 1755), ( 80, 2039.0,  51200),
        &[(F32, 51.2), (F64, 25.6), (TensorF64, 51.2), (TensorTf32, 378.0), (TensorF16, 756.0),
          (TensorBf16, 756.0), (TensorF8, 1513.0), (TensorI8, 1513.0)]).tensor_clock(1620).gpcs(8, 18),
    H100.row("H100 NVL",   "GH100", 132, (   0, 1785), ( 94, 3938.0,  51200),
        NVL_PEAKS).tensor_clock(1545).gpcs(8, 18),

    H200_SXM,
    H200.row("H200 NVL",   "GH100", 132, (   0, 1785), (141, 4800.0,  51200),
        NVL_PEAKS).tensor_clock(1545).gpcs(8, 18),

    GH200.row("GH200 96GB", "GH100", 132, (   0, 1980), ( 96, 4000.0,  51200),
        SXM_PEAKS).tensor_clock(1830).gpcs(8, 18).aliases(&["GH200", "GH200 480GB"]),
    GH200.row("GH200 144GB", "GH100", 132, (   0, 1980), (144, 4900.0,  51200),
        SXM_PEAKS).tensor_clock(1830).gpcs(8, 18),
];
