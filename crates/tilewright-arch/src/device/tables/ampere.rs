//! Ampere: compute capabilities 8.0 and 8.6.

use super::{BLANK, Device, DeviceClass, TensorCores, cc};
use crate::Rate::{
    self, F16, F32, F64, TensorB1, TensorBf16, TensorF16, TensorF16AccumulateF16, TensorF64, TensorI4,
    TensorI8, TensorTf32,
};

const A100: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(8, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA A100 whitepaper and data sheet",
    ..BLANK
};

const A30: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(8, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA A30 data sheet",
    ..BLANK
};

const SERVER: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(8, 6),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA A2, A10 and A40 data sheets",
    ..BLANK
};

const WORKSTATION: Device = Device {
    class: DeviceClass::Workstation,
    compute_capability: cc(8, 6),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Ampere GA102 whitepaper; RTX A series data sheets",
    ..BLANK
};

const GEFORCE: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(8, 6),
    tensor_cores: TensorCores::HalfRateF32Accumulation,
    source: "NVIDIA Ampere GA102 whitepaper; GeForce product pages",
    ..BLANK
};

/// Every A100 has the same.
const A100_PEAKS: &[(Rate, f64)] = &[
    (F32, 19.5),
    (F64, 9.7),
    (F16, 78.0),
    (TensorF64, 19.5),
    (TensorTf32, 156.0),
    (TensorF16, 312.0),
    (TensorBf16, 312.0),
    (TensorI8, 624.0),
    (TensorI4, 1248.0),
    (TensorB1, 4992.0),
];

#[rustfmt::skip]
pub(super) const DEVICES: &[Device] = &[
    // name, chip, SMs, (base, boost MHz), (GB, GB/s, L2 KiB), published peaks
    A100.row("A100 SXM4 80GB",      "GA100", 108, (1275, 1410), ( 80, 2039.0,  40960),
        A100_PEAKS).aliases(&["A100", "A100-SXM", "A100-SXM4-80GB"]),
    A100.row("A100 SXM4 40GB",      "GA100", 108, (1095, 1410), ( 40, 1555.0,  40960),
        A100_PEAKS).aliases(&["A100-SXM4-40GB"]),
    A100.row("A100 PCIe 80GB",      "GA100", 108, (1065, 1410), ( 80, 1935.0,  40960),
        A100_PEAKS).aliases(&["A100 80GB PCIe"]),
    A100.row("A100 PCIe 40GB",      "GA100", 108, ( 765, 1410), ( 40, 1555.0,  40960),
        A100_PEAKS).aliases(&["A100-PCIE-40GB"]),

    A30.row("A30",                 "GA100",  56, ( 930, 1440), ( 24,  933.0,  24576),
        &[(F32, 10.3), (F64, 5.2), (TensorF64, 10.3), (TensorTf32, 82.0), (TensorF16, 165.0),
          (TensorBf16, 165.0), (TensorI8, 330.0), (TensorI4, 661.0)]),

    SERVER.row("A2",                  "GA107",  10, (1440, 1770), ( 16,  200.0,   2048),
        &[(F32, 4.5), (TensorTf32, 9.0), (TensorF16, 18.0), (TensorBf16, 18.0), (TensorI8, 36.0),
          (TensorI4, 72.0)]),
    SERVER.row("A10",                 "GA102",  72, ( 885, 1695), ( 24,  600.0,   6144),
        &[(F32, 31.2), (TensorTf32, 62.5), (TensorF16, 125.0), (TensorBf16, 125.0), (TensorI8, 250.0),
          (TensorI4, 500.0)]),
    SERVER.row("A40",                 "GA102",  84, (1305, 1740), ( 48,  696.0,   6144),
        &[(F32, 37.4), (TensorTf32, 74.8), (TensorF16, 149.7), (TensorBf16, 149.7), (TensorI8, 299.3),
          (TensorI4, 598.7)]),

    WORKSTATION.row("RTX A2000",           "GA106",  26, ( 562, 1200), (  6,  288.0,   3072), &[(F32, 8.0)]),
    WORKSTATION.row("RTX A4000",           "GA104",  48, ( 735, 1560), ( 16,  448.0,   4096),
        &[(F32, 19.2), (TensorF16, 76.7)]),
    WORKSTATION.row("RTX A4500",           "GA102",  56, (1050, 1650), ( 20,  640.0,   6144),
        &[(F32, 23.7), (TensorF16, 94.6)]),
    WORKSTATION.row("RTX A5000",           "GA102",  64, (1170, 1695), ( 24,  768.0,   6144),
        &[(F32, 27.8), (TensorF16, 111.1)]),
    WORKSTATION.row("RTX A6000",           "GA102",  84, (1410, 1800), ( 48,  768.0,   6144),
        &[(F32, 38.7), (TensorTf32, 77.4), (TensorF16, 154.8), (TensorBf16, 154.8), (TensorI8, 309.7),
          (TensorI4, 619.3)]),

    GEFORCE.row("GeForce RTX 3050",    "GA106",  20, (1552, 1777), (  8,  224.0,   2048), &[(F32, 9.1)]),
    GEFORCE.row("GeForce RTX 3060",    "GA106",  28, (1320, 1777), ( 12,  360.0,   3072), &[(F32, 12.7)]),
    GEFORCE.row("GeForce RTX 3060 Ti", "GA104",  38, (1410, 1665), (  8,  448.0,   4096), &[(F32, 16.2)]),
    GEFORCE.row("GeForce RTX 3070",    "GA104",  46, (1500, 1725), (  8,  448.0,   4096),
        &[(F32, 20.3), (TensorF16, 40.6), (TensorF16AccumulateF16, 81.3), (TensorTf32, 20.3), (TensorI8,
          162.6)]),
    GEFORCE.row("GeForce RTX 3070 Ti", "GA104",  48, (1575, 1770), (  8,  608.3,   4096), &[(F32, 21.7)]),
    GEFORCE.row("GeForce RTX 3080",    "GA102",  68, (1440, 1710), ( 10,  760.3,   5120),
        &[(F32, 29.8), (TensorF16, 59.5), (TensorF16AccumulateF16, 119.0), (TensorBf16, 59.5),
          (TensorTf32, 29.8), (TensorI8, 238.0), (TensorI4, 476.0)]).aliases(&["RTX 3080 10GB"]),
    GEFORCE.row("GeForce RTX 3080 Ti", "GA102",  80, (1365, 1665), ( 12,  912.4,   6144), &[(F32, 34.1)]),
    GEFORCE.row("GeForce RTX 3090",    "GA102",  82, (1395, 1695), ( 24,  936.2,   6144),
        &[(F32, 35.6), (TensorF16, 71.0), (TensorF16AccumulateF16, 142.0), (TensorBf16, 71.0),
          (TensorTf32, 35.6), (TensorI8, 284.0), (TensorI4, 568.0)]),
    GEFORCE.row("GeForce RTX 3090 Ti", "GA102",  84, (1560, 1860), ( 24, 1008.0,   6144),
        &[(F32, 40.0), (TensorF16, 80.0), (TensorF16AccumulateF16, 160.0), (TensorI8, 320.0)]),
];
