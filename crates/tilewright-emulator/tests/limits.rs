//! What programs may have of everything, and what registers of other drivers hold.

use std::fmt::Write;
use tilewright_emulator::{Argument, Launch, Machine, Program};

/// A module in which each of `entries` kernels has `each` shared variables of its own, beside one that all see.
fn module(entries: usize, each: usize) -> String {
    let mut ptx =
        String::from(".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 common[4];\n");
    for entry in 0..entries {
        writeln!(ptx, ".visible .entry k{entry}(.param .u64 to)\n{{\n.reg .b64 %rd<2>; .reg .b32 %r<3>;")
            .unwrap();
        (0..each).for_each(|variable| writeln!(ptx, ".shared .align 4 .b8 k{entry}s{variable}[4];").unwrap());
        writeln!(ptx, "mov.u32 %r1, {entry}; st.shared.u32 [common], %r1;").unwrap();
        (0..each)
            .for_each(|variable| writeln!(ptx, "st.shared.u32 [k{entry}s{variable}], {variable};").unwrap());
        let last = each - 1;
        writeln!(ptx, "ld.param.u64 %rd1, [to]; ld.shared.u32 %r2, [common]; st.global.u32 [%rd1], %r2;")
            .unwrap();
        writeln!(ptx, "ld.shared.u32 %r2, [k{entry}s{last}]; st.global.u32 [%rd1+4], %r2;\nret;\n}}")
            .unwrap();
    }
    ptx
}

#[test]
fn shared_variables_are_counted_by_kernel() {
    let mut machine = Machine::new(Program::new(&module(300, 2)).unwrap());
    let to = machine.upload(&[0u32; 2]).unwrap();
    for entry in [0u32, 254, 255, 299] {
        let report = machine.launch(&format!("k{entry}"), &Launch::new([1; 3], [1; 3]).arg(to)).unwrap();
        assert!(report.is_clean(), "{:?} {:?}", report.findings, report.error);
        assert_eq!(machine.download::<u32>(to, 2).unwrap(), [entry, 1]);
    }
    // One sees as many as addresses tell apart.
    let mut machine = Machine::new(Program::new(&module(2, 253)).unwrap());
    let to = machine.upload(&[0u32; 2]).unwrap();
    assert!(machine.launch("k1", &Launch::new([1; 3], [1; 3]).arg(to)).unwrap().is_clean());
    let refused = match Program::new(&module(1, 254)) {
        Err(error) => error.to_string(),
        Ok(program) => {
            let mut machine = Machine::new(program);
            let to = machine.upload(&[0u32; 2]).unwrap();
            let launched = machine.launch("k0", &Launch::new([1; 3], [1; 3]).arg(to));
            launched.map_or_else(|error| error.to_string(), |report| format!("{:?}", report.error))
        }
    };
    assert!(refused.contains("a kernel sees more than 254 shared variables"), "{refused}");
}

/// The driver of CUDA gives no offset of the global index.
#[test]
fn registers_of_opencl_hold_zeros() {
    let ptx = ".version 7.0\n.target sm_50, texmode_independent\n.address_size 64\n.entry k(.param .u64 .ptr .global .align 4 to)\n{\n\
        .reg .b64 %rd<2>; .reg .b32 %r<4>;\nld.param.u64 %rd1, [to]; mov.u32 %r1, %envreg3; mov.u32 %r2, %envreg4; mov.u32 %r3, %envreg5;\n\
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%rd1], %r1;\nret;\n}\n";
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let to = machine.upload(&[7u32]).unwrap();
    let report = machine.launch("k", &Launch::new([1; 3], [1; 3]).arg(to)).unwrap();
    assert!(report.is_clean(), "{:?} {:?}", report.findings, report.error);
    assert_eq!(machine.download::<u32>(to, 1).unwrap(), [0]);
}

/// The array and the byte are named, and what was not stored because of it is no second fault.
#[test]
fn a_misaligned_access_names_its_array() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 to)\n{\n\
        .local .align 16 .b8 place[32]; .shared .align 16 .b8 tile[64];\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n\
        ld.param.u64 %rd1, [to]; mov.b64 %rd2, 0;\nld.global.u64 %rd2, [%rd1+4];\nld.shared.u64 %rd2, [tile+4];\n\
        st.local.u64 [place+12], %rd2;\nld.local.u32 %r1, [place+12]; st.global.u32 [%rd1], %r1;\nret;\n}\n";
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let to = machine.upload(&[7u32; 4]).unwrap();
    let report = machine.launch("k", &Launch::new([1; 3], [1; 3]).arg(to)).unwrap();
    let messages: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    for part in [
        "8 bytes at byte 4 of `",
        "at byte 4 of `tile` (shared memory",
        "at byte 12 of `place` (local memory",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
}

/// Parameters take 32,764 bytes, as on compute capability 7.0 and later.
#[test]
fn parameters_may_be_large() {
    let ptx = "
        .version 8.1 .target sm_90 .address_size 64
        .visible .entry k(.param .u64 to, .param .align 16 .b8 large[32736]) {
            .reg .b64 %to; .reg .b32 %r<3>; .reg .b64 %at;
            ld.param.u64 %to, [to];
            ld.param.u32 %r1, [large+32732];
            mov.b64 %at, large; cvta.param.u64 %at, %at; ld.u32 %r2, [%at+16];
            st.global.v2.u32 [%to], {%r1, %r2};
            ret;
        }";
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let to = machine.upload(&[0u32; 2]).unwrap();
    let large: Vec<u8> = (0..8184u32).flat_map(|word| (3 * word).to_le_bytes()).collect();
    let launch = Launch::new([1, 1, 1], [1, 1, 1]).arg(to).arg(Argument::bytes(&large));
    let report = machine.launch("k", &launch).unwrap();
    assert!(report.is_clean(), "{:?} {:?}", report.error, report.findings);
    assert_eq!(machine.download::<u32>(to, 2).unwrap(), [3 * 8183, 12]);
}
