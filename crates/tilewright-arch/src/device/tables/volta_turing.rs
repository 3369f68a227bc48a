//! Volta and Turing: compute capabilities 7.0 and 7.5.

use super::{BLANK, Device, DeviceClass, TensorCores, cc};
use crate::Rate::{F32, F64, TensorF16, TensorF16AccumulateF16, TensorI4, TensorI8};

const V100: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(7, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Tesla V100 whitepaper and data sheet",
    ..BLANK
};

const VOLTA: Device = Device {
    class: DeviceClass::Workstation,
    compute_capability: cc(7, 0),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Quadro GV100 data sheet; TITAN V product page",
    ..BLANK
};

const T4: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(7, 5),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA T4 data sheet; Turing whitepaper",
    ..BLANK
};

const TURING: Device = Device {
    class: DeviceClass::Workstation,
    compute_capability: cc(7, 5),
    tensor_cores: TensorCores::FullRate,
    source: "NVIDIA Turing whitepaper; Quadro RTX data sheets",
    ..BLANK
};

const TU11X: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(7, 5),
    source: "NVIDIA GeForce product pages",
    ..BLANK
};

const TURING_GEFORCE: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(7, 5),
    tensor_cores: TensorCores::HalfRateF32Accumulation,
    source: "NVIDIA Turing whitepaper; GeForce product pages",
    ..BLANK
};

#[rustfmt::skip]
pub(super) const DEVICES: &[Device] = &[
    // name, chip, SMs, (base, boost MHz), (GB, GB/s, L2 KiB), published peaks
    V100.row("Tesla V100 SXM2",        "GV100",  80, (1290, 1530), ( 16,  900.0,   6144),
        &[(F32, 15.7), (F64, 7.8), (TensorF16, 125.0)]).aliases(&["V100", "Tesla V100-SXM2-16GB",
          "Tesla V100-SXM2-32GB"]),
    V100.row("Tesla V100 PCIe",        "GV100",  80, (1230, 1380), ( 16,  900.0,   6144),
        &[(F32, 14.0), (F64, 7.0), (TensorF16, 112.0)]).aliases(&["Tesla V100-PCIE-16GB",
          "Tesla V100-PCIE-32GB"]),
    V100.row("Tesla V100S PCIe",       "GV100",  80, (1245, 1597), ( 32, 1134.0,   6144),
        &[(F32, 16.4), (F64, 8.2), (TensorF16, 130.0)]).aliases(&["V100S", "Tesla V100S-PCIE-32GB"]),

    VOLTA.row("TITAN V",                "GV100",  80, (1200, 1455), ( 12,  652.8,   4608), &[(F32, 14.9)]),
    VOLTA.row("Quadro GV100",           "GV100",  80, (1132, 1627), ( 32,  868.4,   6144),
        &[(F32, 16.6), (F64, 8.3)]),

    T4.row("Tesla T4",               "TU104",  40, ( 585, 1590), ( 16,  320.0,   4096),
        &[(F32, 8.1), (TensorF16, 65.0), (TensorI8, 130.0), (TensorI4, 260.0)]),

    TURING.row("Quadro RTX 4000",        "TU104",  36, (1005, 1545), (  8,  416.0,   4096), &[(F32, 7.1)]),
    TURING.row("Quadro RTX 5000",        "TU104",  48, (1620, 1815), ( 16,  448.0,   4096),
        &[(F32, 11.2), (TensorF16, 89.2)]),
    TURING.row("Quadro RTX 6000",        "TU102",  72, (1440, 1770), ( 24,  672.0,   6144),
        &[(F32, 16.3), (TensorF16, 130.5), (TensorI8, 261.0)]),
    TURING.row("Quadro RTX 8000",        "TU102",  72, (1395, 1770), ( 48,  672.0,   6144),
        &[(F32, 16.3), (TensorF16, 130.5), (TensorI8, 261.0)]),
    TURING.row("TITAN RTX",              "TU102",  72, (1350, 1770), ( 24,  672.0,   6144),
        &[(F32, 16.3), (TensorF16, 130.0)]),

    TU11X.row("GeForce GTX 1650",       "TU117",  14, (1485, 1665), (  4,  128.1,   1024), &[(F32, 2.98)]),
    TU11X.row("GeForce GTX 1660 Ti",    "TU116",  24, (1500, 1770), (  6,  288.0,   1536), &[(F32, 5.4)]),

    TURING_GEFORCE.row("GeForce RTX 2060",       "TU106",  30, (1365, 1680), (  6,  336.0,   3072),
        &[(F32, 6.5)]),
    TURING_GEFORCE.row("GeForce RTX 2070",       "TU106",  36, (1410, 1620), (  8,  448.0,   4096),
        &[(F32, 7.5), (TensorF16AccumulateF16, 59.7)]),
    TURING_GEFORCE.row("GeForce RTX 2080",       "TU104",  46, (1515, 1710), (  8,  448.0,   4096),
        &[(F32, 10.1), (TensorF16AccumulateF16, 80.5)]),
    TURING_GEFORCE.row("GeForce RTX 2080 Super", "TU104",  48, (1650, 1815), (  8,  496.0,   4096),
        &[(F32, 11.2)]),
    TURING_GEFORCE.row("GeForce RTX 2080 Ti",    "TU102",  68, (1350, 1545), ( 11,  616.0,   5632),
        &[(F32, 13.4), (TensorF16AccumulateF16, 107.6), (TensorF16, 53.8), (TensorI8, 215.2)]),
];
