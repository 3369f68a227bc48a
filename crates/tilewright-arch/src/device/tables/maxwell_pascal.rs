//! Maxwell and Pascal: compute capabilities 5.0, 5.2, 6.0, 6.1.

use super::{BLANK, Device, DeviceClass, cc};
use crate::Rate::{F16, F32, F64};

const GM107: Device = Device {
    class: DeviceClass::Workstation,
    compute_capability: cc(5, 0),
    source: "NVIDIA Quadro K2200 data sheet",
    ..BLANK
};

const GM107_GEFORCE: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(5, 0),
    source: "NVIDIA GeForce GTX 750 Ti whitepaper",
    ..BLANK
};

const MAXWELL_GEFORCE: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(5, 2),
    source: "NVIDIA GeForce GTX 980 whitepaper; GeForce product pages",
    ..BLANK
};

const MAXWELL_TESLA: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(5, 2),
    source: "NVIDIA Tesla M40 data sheet",
    ..BLANK
};

const P100: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(6, 0),
    source: "NVIDIA Tesla P100 whitepaper and data sheet",
    ..BLANK
};

const PASCAL_TESLA: Device = Device {
    class: DeviceClass::DataCenter,
    compute_capability: cc(6, 1),
    source: "NVIDIA Tesla P4 and P40 data sheets",
    ..BLANK
};

const PASCAL_QUADRO: Device = Device {
    class: DeviceClass::Workstation,
    compute_capability: cc(6, 1),
    source: "NVIDIA Quadro P6000 data sheet; TITAN Xp product page",
    ..BLANK
};

const PASCAL_GEFORCE: Device = Device {
    class: DeviceClass::GeForce,
    compute_capability: cc(6, 1),
    source: "NVIDIA GeForce GTX 1080 whitepaper; GeForce product pages",
    ..BLANK
};

#[rustfmt::skip]
pub(super) const DEVICES: &[Device] = &[
    // name, chip, SMs, (base, boost MHz), (GB, GB/s, L2 KiB), published peaks
    GM107.row("Quadro K2200",         "GM107",   5, (1046, 1124), (  4,   80.2,   2048), &[(F32, 1.4)]),

    GM107_GEFORCE.row("GeForce GTX 750 Ti",   "GM107",   5, (1020, 1085), (  2,   86.4,   2048),
        &[(F32, 1.39)]),

    MAXWELL_GEFORCE.row("GeForce GTX 970",      "GM204",  13, (1050, 1178), (  4,  224.4,   1792),
        &[(F32, 3.92)]),
    MAXWELL_GEFORCE.row("GeForce GTX 980",      "GM204",  16, (1126, 1216), (  4,  224.4,   2048),
        &[(F32, 4.98)]),
    MAXWELL_GEFORCE.row("GeForce GTX 980 Ti",   "GM200",  22, (1000, 1075), (  6,  336.6,   3072),
        &[(F32, 6.06)]),
    MAXWELL_GEFORCE.row("GeForce GTX TITAN X",  "GM200",  24, (1000, 1075), ( 12,  336.6,   3072),
        &[(F32, 6.6)]),

    MAXWELL_TESLA.row("Tesla M40",            "GM200",  24, ( 948, 1114), ( 12,  288.4,   3072),
        &[(F32, 6.84), (F64, 0.213)]),

    P100.row("Tesla P100 SXM2",      "GP100",  56, (1328, 1480), ( 16,  732.0,   4096),
        &[(F32, 10.6), (F64, 5.3), (F16, 21.2)]).aliases(&["P100", "Tesla P100-SXM2-16GB"]),
    P100.row("Tesla P100 PCIe",      "GP100",  56, (   0, 1303), ( 16,  732.0,   4096),
        &[(F32, 9.3), (F64, 4.7), (F16, 18.7)]).aliases(&["Tesla P100-PCIE-16GB"]),

    PASCAL_TESLA.row("Tesla P4",             "GP104",  20, ( 810, 1063), (  8,  192.0,   2048),
        &[(F32, 5.5)]),
    PASCAL_TESLA.row("Tesla P40",            "GP102",  30, (1303, 1531), ( 24,  347.1,   3072),
        &[(F32, 11.76)]),

    PASCAL_QUADRO.row("Quadro P6000",         "GP102",  30, (1506, 1645), ( 24,  432.0,   3072),
        &[(F32, 12.6)]),
    PASCAL_QUADRO.row("TITAN Xp",             "GP102",  30, (1405, 1582), ( 12,  547.7,   3072),
        &[(F32, 12.1)]),

    PASCAL_GEFORCE.row("GeForce GTX 1050 Ti",  "GP107",   6, (1290, 1392), (  4,  112.1,   1024),
        &[(F32, 2.1)]),
    PASCAL_GEFORCE.row("GeForce GTX 1060 6GB", "GP106",  10, (1506, 1708), (  6,  192.2,   1536),
        &[(F32, 4.4)]).aliases(&["GTX 1060"]),
    PASCAL_GEFORCE.row("GeForce GTX 1070",     "GP104",  15, (1506, 1683), (  8,  256.3,   2048),
        &[(F32, 6.5)]),
    PASCAL_GEFORCE.row("GeForce GTX 1080",     "GP104",  20, (1607, 1733), (  8,  320.3,   2048),
        &[(F32, 8.9)]),
    PASCAL_GEFORCE.row("GeForce GTX 1080 Ti",  "GP102",  28, (1480, 1582), ( 11,  484.4,   2816),
        &[(F32, 11.3)]),
];
