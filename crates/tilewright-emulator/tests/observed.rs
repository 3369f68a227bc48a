//! An observer sees every access, with its addresses.

use std::sync::Mutex;
use tilewright_emulator::{AccessKind, Launch, Machine, ObservedAccess, Observer, Program};

#[derive(Default)]
struct Log(Mutex<Vec<Entry>>);

/// Block, warp, PTX line, kind, active lanes, bytes, and the distance of the last lane from the start.
type Entry = ([u32; 3], u32, u32, AccessKind, u32, u32, u64);

impl Observer for Log {
    fn access(&self, access: &ObservedAccess<'_>) {
        let last = access.addresses[31 - access.active.leading_zeros() as usize];
        let entry = (
            access.block,
            access.warp,
            access.ptx_line,
            access.kind,
            access.active,
            access.bytes,
            last.wrapping_sub(access.start),
        );
        self.0.lock().unwrap().push(entry);
    }
}

const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %q;
    .shared .align 4 .b8 first[16];
    .shared .align 4 .b8 second[256];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    mov.u32 %r3, second;
    shl.b32 %r4, %r1, 2;
    add.s32 %r5, %r3, %r4;
    setp.lt.u32 %q, %r1, 40;
    @%q st.shared.u32 [%r5], %r2;
    ret;
}";

#[test]
fn every_access_of_every_warp() {
    let mut machine = Machine::new(Program::new(PTX).unwrap());
    let data = machine.upload(&[7u32; 64]).unwrap();
    let log = Log::default();
    let launch = Launch::new([2, 1, 1], [64, 1, 1]).arg(data);
    let report = machine.launch_observed("k", &launch, &log).unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);

    let mut log = log.0.into_inner().unwrap();
    log.retain(|entry| entry.3 != AccessKind::ParameterLoad);
    log.sort();
    let (load, store) = (AccessKind::GlobalLoad, AccessKind::SharedStore);
    let block = |x| {
        [
            ([x, 0, 0], 0, 12, load, u32::MAX, 4, 124),
            ([x, 0, 0], 0, 17, store, u32::MAX, 4, 124),
            ([x, 0, 0], 1, 12, load, u32::MAX, 4, 252),
            ([x, 0, 0], 1, 17, store, 0xff, 4, 156),
        ]
    };
    assert_eq!(log, [block(0), block(1)].concat());
    // Nothing else changes.
    assert_eq!(machine.launch("k", &launch).unwrap().counters, report.counters);
}
