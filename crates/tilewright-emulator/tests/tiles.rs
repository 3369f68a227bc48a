//! What `wmma.load` and `wmma.store` cost, beside what the assembler of CUDA 13 makes of them for compute capability 9.0.

use tilewright_emulator::{AccessCounters, AccessKind, Launch, Machine, Program};

/// Counters of one instruction on a tile whose lines are `stride` elements apart.
fn cost(instruction: &str, memory: &str, stride: u32, kind: AccessKind) -> AccessCounters {
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 global)\n{{\n\
         .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .f64 %d<3>; .reg .pred %p<2>; .shared .align 128 .b8 tile[16384];\n\
         ld.param.u64 %rd1, [global]; mov.u64 %rd2, tile;\n\
         mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0; mov.b32 %r8, 0;\n\
         mov.f64 %d1, 0d0000000000000000; mov.f64 %d2, 0d0000000000000000;\n\
         {}\nret;\n}}\n",
        instruction
            .replace("AT", if memory == "shared" { "[%rd2]" } else { "[%rd1]" })
            .replace("STRIDE", &stride.to_string())
    );
    let mut machine = Machine::new(Program::new(&ptx).unwrap());
    let global = machine.upload(&vec![0u32; 4096]).unwrap();
    let report = machine.launch("k", &Launch::new([1; 3], [32, 1, 1]).arg(global)).unwrap();
    assert!(report.error.is_none(), "{instruction}: {:?}", report.error);
    let mut found = report.counters.instructions.iter().filter(|counted| counted.opcode.starts_with("wmma"));
    let counted = found.next().unwrap();
    counted
        .accesses
        .iter()
        .find(|access| access.0 == kind)
        .unwrap_or_else(|| panic!("{:?}", counted.accesses))
        .1
}

const A_F16: &str =
    "wmma.load.a.sync.aligned.row.m16n16k16.MEMORY.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, AT, STRIDE;";

/// Sectors are those that hold the tile, each once: a contiguous tile wastes none.
#[test]
fn a_tile_in_global_memory_moves_its_sectors_once() {
    let registers = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
    for (instruction, stride, sectors, ideal) in [
        (A_F16.replace("MEMORY", "global"), 16, 16, 16),
        // Rows of 32 bytes in rows of 128.
        (A_F16.replace("MEMORY", "global"), 64, 16, 16),
        // Rows that begin in the middle of sectors.
        (A_F16.replace("MEMORY", "global"), 24, 24, 16),
        (format!("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {registers}, AT, STRIDE;"), 16, 16, 16),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r1, %r2}, AT, STRIDE;".into(), 16, 8, 8),
        // 16 bytes of each sector.
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r1, %r2}, AT, STRIDE;".into(), 32, 16, 8),
        ("wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r1, %r2, %r3, %r4}, AT, STRIDE;".into(), 8, 16, 16),
        ("wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%d1}, AT, STRIDE;".into(), 4, 8, 8),
        ("wmma.load.a.sync.aligned.row.m32n8k16.global.bf16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, AT, STRIDE;".into(), 16, 32, 32),
    ] {
        let counted = cost(&instruction, "global", stride, AccessKind::GlobalLoad);
        assert_eq!((counted.requests, counted.sectors, counted.ideal_sectors), (1, sectors, ideal), "{instruction} {stride}");
        assert!(counted.bytes_requested <= 32 * counted.sectors);
    }
    let store = format!("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 AT, {registers}, STRIDE;");
    let counted = cost(&store, "global", 16, AccessKind::GlobalStore);
    assert_eq!((counted.sectors, counted.ideal_sectors), (32, 32));
}

/// `LDSM.16.M88.4` of four matrices of 8 rows of 16 bytes; `STS.64` of two neighbours.
#[test]
fn a_tile_in_shared_memory_takes_the_passes_of_the_hardware() {
    let load = A_F16.replace("MEMORY", "shared");
    let registers = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
    let sums = |major: &str| {
        format!("wmma.store.d.sync.aligned.{major}.m16n16k16.shared.f32 AT, {registers}, STRIDE;")
    };
    for (instruction, kind, stride, passes, ideal) in [
        // Rows of 32 bytes: the fifth row is in the banks of the first.
        (load.clone(), AccessKind::SharedLoad, 16, 8, 4),
        // Rows of 48 bytes are in banks of their own.
        (load.clone(), AccessKind::SharedLoad, 24, 4, 4),
        // Rows of 128 bytes are all in the same banks.
        (load, AccessKind::SharedLoad, 64, 32, 4),
        // Rows of 64 bytes, 32 of which are written at once: 16 banks of 32.
        (sums("row"), AccessKind::SharedStore, 16, 16, 8),
        (sums("row"), AccessKind::SharedStore, 24, 8, 8),
        // One element of 32 columns' parts each.
        (sums("col"), AccessKind::SharedStore, 20, 8, 8),
    ] {
        let counted = cost(&instruction, "shared", stride, kind);
        assert_eq!((counted.wavefronts, counted.ideal_wavefronts), (passes, ideal), "{instruction} {stride}");
    }
}
