//! The device table: complete, consistent, and its derived peaks against the published ones.

use std::collections::HashSet;
use tilewright_arch::{Device, DeviceClass, Rate, TensorCores};

#[test]
fn every_row_is_complete_and_plausible() {
    let mut names = HashSet::new();
    for device in Device::all() {
        let name = device.name;
        assert!(names.insert(name), "{name} twice");
        assert!(device.limits().is_ok(), "{name}");
        assert!(!device.chip.is_empty() && device.source.starts_with("NVIDIA"), "{name}");
        assert!((1..=192).contains(&device.sms), "{name}");
        assert!((600..=2700).contains(&device.boost_clock_mhz), "{name}");
        assert!(
            device.base_clock_mhz.is_none_or(|base| (400..=device.boost_clock_mhz).contains(&base)),
            "{name}"
        );
        assert!(device.tensor_clock_mhz.is_none_or(|clock| clock <= device.boost_clock_mhz), "{name}");
        assert!((20e9..=8.1e12).contains(&device.memory_bandwidth), "{name}");
        assert!((2..=512).contains(&device.memory_gb), "{name}");
        assert!((256..=131_072).contains(&device.l2_kib), "{name}");
        assert!(device.gpcs.is_none_or(|gpcs| gpcs.count * gpcs.max_sms >= device.sms), "{name}");
        assert!(device.peak(Rate::F32).is_some() && device.peak(Rate::F64).is_some(), "{name}");
        assert_eq!(
            device.peak(Rate::TensorF16).is_some(),
            device.tensor_cores != TensorCores::None,
            "{name}"
        );
    }
    assert!(names.len() >= 45, "{}", names.len());
    for class in
        [DeviceClass::DataCenter, DeviceClass::Workstation, DeviceClass::GeForce, DeviceClass::Jetson]
    {
        assert!(Device::all().any(|device| device.class == class), "{class:?}");
    }
}

/// Published peaks are rounded, some to one or two digits, and some refer to another boost clock than the product page.
const TOLERANCE: f64 = 0.03;

#[test]
fn derived_peaks_are_the_published_ones() {
    let (mut compared, mut deviations) = (0, Vec::new());
    for device in Device::all() {
        for &(rate, published) in device.published {
            let derived = device.peak(rate).map_or(0.0, |peak| peak / 1e12);
            let deviation = (derived - published).abs() / published;
            if deviation > TOLERANCE {
                deviations.push(format!("{} {rate}: {derived:.2}, published {published}", device.name));
            }
            compared += 1;
        }
    }
    assert!(deviations.is_empty(), "{}", deviations.join("\n"));
    assert!(compared > 200, "{compared}");
}
