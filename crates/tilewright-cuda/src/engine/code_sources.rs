//! Where the code of a program on a device can come from, as a pure function of the versions that are here. What the compiler makes comes
//! before what comes with the catalogue, as it does where no device runs it: see `ProgramPtx`.

use tilewright_arch::ComputeCapability;
use tilewright_toolchain::{Compiler, DriverVersion};

/// Where the code that a device runs comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeSource {
    /// NVRTC makes machine code for the device.
    Machine,
    /// NVRTC makes PTX for the device or for an older one, and the driver machine code from that.
    Virtual(ComputeCapability),
    /// The driver makes machine code from the PTX that comes with the kernel, which is for this compute capability.
    Shipped(ComputeCapability),
}

impl CodeSource {
    /// Whether a kernel that can wait for the one before it does so in this code: the instruction came with compute capability 9.0.
    pub(super) fn waits_for_previous(self, device: ComputeCapability) -> bool {
        let compiled_for = match self {
            Self::Machine => device,
            Self::Virtual(capability) | Self::Shipped(capability) => capability,
        };
        compiled_for >= ComputeCapability::new(9, 0)
    }
}

/// The sources for a device, the best first. A driver takes neither machine code nor PTX of a later major version of CUDA, and PTX for a
/// later device not at all; `shipped` is the compute capability that the kernel's own PTX needs.
pub(super) fn code_sources(
    compiler: Option<&Compiler>,
    driver: DriverVersion,
    device: ComputeCapability,
    shipped: Option<ComputeCapability>,
) -> Vec<CodeSource> {
    let mut all = Vec::new();
    if let Some(compiler) = compiler.filter(|compiler| compiler.version.major <= driver.major()) {
        let number = device.number();
        if compiler.architectures.contains(&number) {
            all.push(CodeSource::Machine);
        }
        // PTX of a later minor version may be refused, too; then the next source is tried.
        let below = compiler.architectures.iter().filter(|&&known| known <= number).max();
        all.extend(below.and_then(|known| known.to_string().parse().ok()).map(CodeSource::Virtual));
    }
    all.extend(shipped.filter(|&needed| needed <= device).map(CodeSource::Shipped));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_toolchain::{NvrtcVersion, compilers::why_not};

    fn cc(text: &str) -> ComputeCapability {
        text.parse().expect(text)
    }

    fn compiler(major: u32, architectures: &[u32]) -> Compiler {
        Compiler { version: NvrtcVersion { major, minor: 0 }, architectures: architectures.to_vec() }
    }

    const THIRTEEN: &[u32] = &[75, 80, 86, 89, 90, 100, 120];
    const TWELVE: &[u32] = &[50, 60, 70, 75, 80, 86, 89, 90];

    #[test]
    fn machine_code_comes_first_then_ptx_then_what_is_shipped() {
        let found = code_sources(
            Some(&compiler(13, THIRTEEN)),
            DriverVersion::new(13, 0),
            cc("9.0"),
            Some(cc("8.0")),
        );
        assert_eq!(
            found,
            [CodeSource::Machine, CodeSource::Virtual(cc("9.0")), CodeSource::Shipped(cc("8.0"))]
        );
    }

    #[test]
    fn a_compiler_is_not_later_than_the_driver() {
        let driver = DriverVersion::new(12, 4);
        let later = compiler(13, THIRTEEN);
        assert_eq!(
            code_sources(Some(&later), driver, cc("9.0"), Some(cc("8.0"))),
            [CodeSource::Shipped(cc("8.0"))]
        );
        assert_eq!(code_sources(Some(&later), driver, cc("9.0"), None), []);
        assert!(why_not(&later, driver, cc("9.0")).expect("a reason").contains("CUDA 12.4"));
        // An older one is.
        let found = code_sources(Some(&compiler(12, TWELVE)), DriverVersion::new(13, 0), cc("9.0"), None);
        assert_eq!(found, [CodeSource::Machine, CodeSource::Virtual(cc("9.0"))]);
        assert_eq!(why_not(&compiler(12, TWELVE), driver, cc("9.0")), None);
    }

    #[test]
    fn where_the_compiler_does_not_know_the_device_the_nearest_older_one_will_do() {
        let driver = DriverVersion::new(13, 0);
        let found = code_sources(Some(&compiler(12, TWELVE)), driver, cc("12.0"), Some(cc("8.0")));
        assert_eq!(found, [CodeSource::Virtual(cc("9.0")), CodeSource::Shipped(cc("8.0"))]);
        // Never a newer one: 7.5 is nearer to 7.2, and a device of 7.2 does not run it.
        let found = code_sources(Some(&compiler(13, THIRTEEN)), driver, cc("7.2"), Some(cc("7.5")));
        assert_eq!(found, []);
        assert!(why_not(&compiler(13, THIRTEEN), driver, cc("7.2")).expect("a reason").contains("7.2"));
    }

    #[test]
    fn shipped_ptx_is_for_devices_that_have_its_instructions() {
        let driver = DriverVersion::new(13, 0);
        assert_eq!(code_sources(None, driver, cc("7.5"), Some(cc("7.5"))), [CodeSource::Shipped(cc("7.5"))]);
        assert_eq!(code_sources(None, driver, cc("7.5"), Some(cc("8.0"))), []);
        assert_eq!(code_sources(None, driver, cc("12.0"), Some(cc("8.0"))), [CodeSource::Shipped(cc("8.0"))]);
        assert_eq!(code_sources(None, driver, cc("12.0"), None), []);
    }

    #[test]
    fn only_code_for_a_gpu_with_the_instruction_waits() {
        assert!(CodeSource::Machine.waits_for_previous(cc("9.0")));
        assert!(!CodeSource::Machine.waits_for_previous(cc("8.6")));
        assert!(CodeSource::Virtual(cc("9.0")).waits_for_previous(cc("12.0")));
        // An older compiler's code on a newer GPU.
        assert!(!CodeSource::Virtual(cc("8.6")).waits_for_previous(cc("9.0")));
        assert!(!CodeSource::Shipped(cc("8.0")).waits_for_previous(cc("9.0")));
    }
}
