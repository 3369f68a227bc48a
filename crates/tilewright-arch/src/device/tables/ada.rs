//! Ada Lovelace: compute capability 8.9.

use super::{BLANK, Device, DeviceClass, TensorCores, cc};
use crate::Rate::{
    F32, TensorBf16, TensorF8, TensorF16, TensorF16AccumulateF16, TensorI4, TensorI8, TensorTf32,
};

const SERVER: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(8, 9),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA L4 and L40S data sheets",
    ..BLANK
};

const L40: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(8, 9),
    tensor_cores: TensorCores::HalfRate,
    source: "NVIDIA L40 data sheet",
    ..BLANK
};

const WORKSTATION: Device = Device {
    class: DeviceClass::Workstation,
    compute_capability: cc(8, 9),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA RTX Ada Generation data sheets",
    ..BLANK
};

const GEFORCE: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(8, 9),
    tensor_cores: TensorCores::HalfRateF32Accumulation,
    source: "NVIDIA Ada GPU architecture whitepaper; GeForce product pages",
    ..BLANK
};

#[rustfmt::skip]
pub(super) const DEVICES: &[Device] = &[
    // name, chip, SMs, (base, boost MHz), (GB, GB/s, L2 KiB), published peaks
    SERVER.row("L4",                         "AD104",  58, ( 795, 2040), ( 24,  300.0,  49152),
        &[(F32, 30.3), (TensorTf32, 60.0), (TensorF16, 121.0), (TensorBf16, 121.0), (TensorF8, 242.5),
          (TensorI8, 242.5)]),
    SERVER.row("L40S",                       "AD102", 142, (1110, 2520), ( 48,  864.0,  98304),
        &[(F32, 91.6), (TensorTf32, 183.0), (TensorF16, 362.0), (TensorBf16, 362.0), (TensorF8, 733.0),
          (TensorI8, 733.0)]),

    L40.row("L40",                        "AD102", 142, ( 735, 2490), ( 48,  864.0,  98304),
        &[(F32, 90.5), (TensorTf32, 90.5), (TensorF16, 181.05), (TensorBf16, 181.05), (TensorF8, 362.0),
          (TensorI8, 362.0), (TensorI4, 724.0)]),

    WORKSTATION.row("RTX 2000 Ada Generation",    "AD107",  22, (1620, 2130), ( 16,  224.0,  12288),
        &[(F32, 12.0)]),
    WORKSTATION.row("RTX 4000 Ada Generation",    "AD104",  48, (1290, 2175), ( 20,  360.0,  49152),
        &[(F32, 26.7)]),
    WORKSTATION.row("RTX 4500 Ada Generation",    "AD103",  60, (2070, 2580), ( 24,  432.0,  49152),
        &[(F32, 39.6)]),
    WORKSTATION.row("RTX 5000 Ada Generation",    "AD102", 100, (1155, 2550), ( 32,  576.0,  73728),
        &[(F32, 65.3)]),
    WORKSTATION.row("RTX 6000 Ada Generation",    "AD102", 142, ( 915, 2505), ( 48,  960.0,  98304),
        &[(F32, 91.1), (TensorTf32, 182.1), (TensorF16, 364.2), (TensorBf16, 364.2), (TensorF8, 728.5),
          (TensorI8, 728.5)]),

    GEFORCE.row("GeForce RTX 4060",           "AD107",  24, (1830, 2460), (  8,  272.0,  24576),
        &[(F32, 15.1)]),
    GEFORCE.row("GeForce RTX 4060 Ti",        "AD106",  34, (2310, 2535), (  8,  288.0,  32768),
        &[(F32, 22.1)]),
    GEFORCE.row("GeForce RTX 4070",           "AD104",  46, (1920, 2475), ( 12,  504.2,  36864),
        &[(F32, 29.1)]),
    GEFORCE.row("GeForce RTX 4070 Super",     "AD104",  56, (1980, 2475), ( 12,  504.2,  49152),
        &[(F32, 35.5)]),
    GEFORCE.row("GeForce RTX 4070 Ti",        "AD104",  60, (2310, 2610), ( 12,  504.2,  49152),
        &[(F32, 40.1)]),
    GEFORCE.row("GeForce RTX 4070 Ti Super",  "AD103",  66, (2340, 2610), ( 16,  672.3,  49152),
        &[(F32, 44.1)]),
    GEFORCE.row("GeForce RTX 4080",           "AD103",  76, (2205, 2505), ( 16,  716.8,  65536),
        &[(F32, 48.7), (TensorF16, 97.5), (TensorF16AccumulateF16, 194.9), (TensorF8, 194.9), (TensorI8,
          389.9)]),
    GEFORCE.row("GeForce RTX 4080 Super",     "AD103",  80, (2295, 2550), ( 16,  736.3,  65536),
        &[(F32, 52.2)]),
    GEFORCE.row("GeForce RTX 4090",           "AD102", 128, (2235, 2520), ( 24, 1008.0,  73728),
        &[(F32, 82.6), (TensorF16, 165.2), (TensorF16AccumulateF16, 330.3), (TensorBf16, 165.2),
          (TensorTf32, 82.6), (TensorF8, 330.3), (TensorI8, 660.6), (TensorI4, 1321.2)]),
];
