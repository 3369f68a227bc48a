//! Blackwell: compute capabilities 10.0, 10.3, 12.0.

use super::{BLANK, Device, DeviceClass, TensorCores, cc};
use crate::Rate::{
    F32, F64, TensorBf16, TensorF4, TensorF8, TensorF16, TensorF16AccumulateF16, TensorF64, TensorI8,
    TensorTf32,
};

const B200: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(10, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Blackwell architecture brief; HGX B200 data sheet",
    ..BLANK
};

const B300: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(10, 3),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Blackwell Ultra and HGX B300 data sheets",
    ..BLANK
};

const SERVER: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(12, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA RTX PRO 6000 Blackwell Server Edition data sheet",
    ..BLANK
};

const PRO: Device = Device {
    class: DeviceClass::Workstation,
    compute_capability: cc(12, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA RTX Blackwell PRO whitepaper and data sheets",
    ..BLANK
};

const GEFORCE: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(12, 0),
    tensor_cores: TensorCores::HalfRateF32Accumulation,
    source: "NVIDIA RTX Blackwell GPU architecture whitepaper",
    ..BLANK
};

#[rustfmt::skip]
pub(super) const DEVICES: &[Device] = &[
    // name, chip, SMs, (base, boost MHz), (GB, GB/s, L2 KiB), published peaks
    B200.row("B200",                     "GB100", 148, (   0, 1965), (180, 8000.0, 129024),
        &[(F32, 75.0), (F64, 37.0), (TensorF64, 37.0), (TensorTf32, 1125.0), (TensorF16, 2250.0),
          (TensorBf16, 2250.0), (TensorF8, 4500.0), (TensorI8, 4500.0), (TensorF4, 9000.0)]).tensor_clock(1850),

    B300.row("B300",                     "GB110", 148, (   0, 2032), (288, 8000.0, 129024),
        &[(F32, 75.0), (F64, 1.2), (TensorF16, 2250.0), (TensorBf16, 2250.0), (TensorF8, 4500.0),
          (TensorF4, 13500.0)]).tensor_clock(1850),

    SERVER.row("RTX PRO 6000 Blackwell Server Edition", "GB202", 188, (   0, 2430), ( 96, 1597.0, 131072),
        &[(F32, 117.0)]).gpcs(12, 16),

    PRO.row("RTX PRO 6000 Blackwell Workstation Edition", "GB202", 188, (   0, 2617), ( 96, 1792.0, 131072),
        &[(F32, 126.0), (TensorF16, 503.8), (TensorF4, 2015.0)]).gpcs(12, 16).aliases(&["RTX PRO 6000",
          "RTX PRO 6000 Blackwell"]),
    PRO.row("RTX PRO 6000 Blackwell Max-Q Workstation Edition", "GB202", 188, (   0, 2280), ( 96, 1792.0, 131072),
        &[(F32, 110.0)]).gpcs(12, 16),

    GEFORCE.row("GeForce RTX 5060 Ti",      "GB206",  36, (2407, 2572), ( 16,  448.0,  32768),
        &[(F32, 23.7)]).gpcs(3, 12),
    GEFORCE.row("GeForce RTX 5070",         "GB205",  48, (2325, 2512), ( 12,  672.0,  49152),
        &[(F32, 30.9), (TensorF16, 61.7), (TensorF16AccumulateF16, 123.5), (TensorF8, 123.5), (TensorI8,
          246.9), (TensorF4, 494.0)]).gpcs(5, 10),
    GEFORCE.row("GeForce RTX 5070 Ti",      "GB203",  70, (2295, 2452), ( 16,  896.0,  49152),
        &[(F32, 43.9), (TensorF16, 87.9), (TensorF16AccumulateF16, 175.8), (TensorF8, 175.8), (TensorI8,
          351.5), (TensorF4, 703.0)]).gpcs(7, 12),
    GEFORCE.row("GeForce RTX 5080",         "GB203",  84, (2295, 2617), ( 16,  960.0,  65536),
        &[(F32, 56.3), (TensorF16, 112.6), (TensorF16AccumulateF16, 225.1), (TensorF8, 225.1), (TensorI8,
          450.2), (TensorF4, 900.4)]).gpcs(7, 12),
    GEFORCE.row("GeForce RTX 5090",         "GB202", 170, (2017, 2407), ( 32, 1792.0,  98304),
        &[(F32, 104.8), (TensorF16, 209.5), (TensorF16AccumulateF16, 419.0), (TensorBf16, 209.5),
          (TensorTf32, 104.8), (TensorF8, 419.0), (TensorI8, 838.0), (TensorF4, 1676.0)]).gpcs(12, 16),
];
