//! The counters of executed kernels against those of an H200: every row of the measured table is a kernel of one access.

use tilewright_emulator::{Launch, Machine, Program};

/// A kernel whose lanes read their offset from a table and access that place, if they are active.
fn kernel(operation: &str, vector: &str, registers: &str, space: &str) -> String {
    let access = match operation {
        "ld" => format!("ld.{space}{vector}.u32 {registers}, [%rd7];"),
        _ => format!("st.{space}{vector}.u32 [%rd7], {registers};"),
    };
    let base = if space == "shared" { "mov.u64 %rd6, buffer;" } else { "mov.u64 %rd6, %rd2;" };
    format!(
        ".version 8.0 .target sm_80 .address_size 64
        .extern .shared .align 16 .b8 buffer[];
        .visible .entry k(.param .u64 offsets, .param .u64 data, .param .u32 active) {{
            .reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .pred %p<3>;
            ld.param.u64 %rd1, [offsets];
            ld.param.u64 %rd2, [data];
            ld.param.u32 %r5, [active];
            mov.u32 %r6, %tid.x;
            mul.wide.u32 %rd3, %r6, 4;
            add.u64 %rd4, %rd1, %rd3;
            ld.global.u32 %r7, [%rd4];
            cvt.u64.u32 %rd5, %r7;
            {base}
            add.u64 %rd7, %rd6, %rd5;
            shr.u32 %r8, %r5, %r6;
            and.b32 %r8, %r8, 1;
            setp.eq.u32 %p1, %r8, 0;
            @%p1 bra DONE;
            {access}
            DONE: ret;
        }}"
    )
}

#[test]
fn every_measured_pattern_is_counted_as_the_hardware_does() {
    let table = include_str!("../../tilewright-arch/tests/data/h200_wavefronts.csv");
    let mut rows = 0;
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let (operation, width) = (fields[2], fields[3].parse::<u32>().unwrap());
        let active = u32::from_str_radix(fields[4], 16).unwrap();
        let offsets: Vec<u32> = fields[7..39].iter().map(|offset| offset.parse().unwrap()).collect();
        let (vector, registers) = match width {
            4 => ("", "%r1"),
            8 => (".v2", "{%r1, %r2}"),
            _ => (".v4", "{%r1, %r2, %r3, %r4}"),
        };
        let space = if operation.ends_with('s') { "shared" } else { "global" };
        let ptx = kernel(&operation[..2], vector, registers, space);
        let mut machine = Machine::new(Program::new(&ptx).unwrap());
        let bytes = offsets.iter().max().unwrap() + 16;
        let table = machine.upload(&offsets).unwrap();
        let data = machine.allocate(bytes.into()).unwrap();
        let shared = if space == "shared" { bytes } else { 0 };
        let launch =
            Launch::new([1, 1, 1], [32, 1, 1]).arg(table).arg(data).arg(active).dynamic_shared(shared);
        let counters = machine.launch("k", &launch).unwrap().counters;
        let own = counters.instructions.iter().find(|instruction| {
            instruction.opcode.starts_with(&operation[..2])
                && instruction.opcode.contains(space)
                && (space == "shared" || instruction.ptx_line > 14)
        });
        let (_, own) =
            own.map_or((tilewright_emulator::AccessKind::Mixed, Default::default()), |own| own.accesses[0]);
        if space == "shared" {
            assert_eq!(own.wavefronts, fields[6].parse::<u64>().unwrap(), "{row}");
        } else {
            assert_eq!(own.sectors, fields[5].parse::<u64>().unwrap(), "{row}");
        }
        rows += 1;
    }
    assert!(rows > 400, "{rows}");
}
