//! Jetson modules and other systems on a chip: compute capabilities 5.3, 6.2, 7.2, 8.7, 11.0, 12.1.

use super::{BLANK, Device, DeviceClass, TensorCores, cc};
use crate::Rate::{F16, F32, TensorF4, TensorF8, TensorF16, TensorI8};

const TX1: Device = Device {
    class: DeviceClass::Jetson,
    compute_capability: cc(5, 3),
    source: "NVIDIA Jetson TX1 and Jetson Nano data sheets",
    ..BLANK
};

const TX2: Device = Device {
    class: DeviceClass::Jetson,
    compute_capability: cc(6, 2),
    source: "NVIDIA Jetson TX2 data sheet",
    ..BLANK
};

const XAVIER: Device = Device {
    class: DeviceClass::Jetson,
    compute_capability: cc(7, 2),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Jetson AGX Xavier and Xavier NX data sheets",
    ..BLANK
};

const ORIN: Device = Device {
    class: DeviceClass::Jetson,
    compute_capability: cc(8, 7),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Jetson Orin series data sheets and technical brief",
    ..BLANK
};

const THOR: Device = Device {
    class: DeviceClass::Jetson,
    compute_capability: cc(11, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Jetson Thor series data sheet",
    ..BLANK
};

const SPARK: Device = Device {
    class: DeviceClass::Jetson,
    compute_capability: cc(12, 1),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA DGX Spark data sheet; clock and L2 as the driver reports them",
    ..BLANK
};

#[rustfmt::skip]
pub(super) const DEVICES: &[Device] = &[
    // name, chip, SMs, (base, boost MHz), (GB, GB/s, L2 KiB), published peaks
    TX1.row("Jetson Nano",           "GM20B",   1, (   0,  921), (  4,   25.6,    256),
        &[(F32, 0.236), (F16, 0.472)]),
    TX1.row("Jetson TX1",            "GM20B",   2, (   0,  998), (  4,   25.6,    256),
        &[(F32, 0.511), (F16, 1.02)]),

    TX2.row("Jetson TX2",            "GP10B",   2, (   0, 1300), (  8,   59.7,    512),
        &[(F32, 0.666), (F16, 1.33)]),

    XAVIER.row("Jetson Xavier NX",      "GV10B",   6, (   0, 1100), (  8,   59.7,    512), &[]),
    XAVIER.row("Jetson AGX Xavier",     "GV10B",   8, (   0, 1377), ( 32,  136.5,    512),
        &[(F32, 1.41), (TensorF16, 11.0), (TensorI8, 22.0)]).aliases(&["Xavier"]),

    ORIN.row("Jetson Orin Nano 8GB",  "GA10B",   8, (   0,  625), (  8,   68.0,   2048),
        &[(TensorI8, 20.0)]).aliases(&["Orin Nano"]),
    ORIN.row("Jetson Orin NX 16GB",   "GA10B",   8, (   0,  918), ( 16,  102.4,   2048),
        &[(TensorI8, 30.0)]).aliases(&["Orin NX"]),
    ORIN.row("Jetson AGX Orin 64GB",  "GA10B",  16, (   0, 1300), ( 64,  204.8,   4096),
        &[(F32, 5.3), (TensorI8, 85.0)]).aliases(&["Orin", "Jetson AGX Orin"]),

    THOR.row("Jetson T5000",          "GB10B",  20, (   0, 1575), (128,  273.0,  32768),
        &[(TensorF4, 1035.0), (TensorF8, 517.5)]).aliases(&["Thor", "Jetson AGX Thor", "Jetson Thor"]),

    SPARK.row("GB10",                  "GB20B",  48, (   0, 2418), (128,  273.0,  24576),
        &[]).aliases(&["DGX Spark"]),
];
