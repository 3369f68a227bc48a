//! Special registers, the constant `WARP_SZ` and constant expressions; and what is wrong in one entry is no matter of another.
#[path = "features/instructions.rs"]
mod instructions;

use tilewright_emulator::{Launch, LaunchError, Machine, Program, Report};

const HEAD: &str = ".version 9.0 .target sm_100a .address_size 64\n";

/// An entry that stores `%out`, which `body` sets, for each thread.
fn entry(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 to) {{
            .reg .b64 %rd<4>, %out; .reg .b32 %r<4>, %i, %n; .reg .pred %p;
            ld.param.u64 %rd1, [to];
            mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %i, %i, %n, %r1;
            mad.wide.u32 %rd1, %i, 8, %rd1;
            {body}
            st.global.u64 [%rd1], %out;
            ret;
        }}\n"
    )
}

/// Grid and block of all launches.
const LAUNCH: [[u32; 3]; 2] = [[3, 1, 1], [40, 1, 1]];

fn launch(ptx: &str, name: &str) -> Result<(Report, Vec<u64>), LaunchError> {
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let to = machine.allocate(8 * 120).unwrap();
    let report = machine.launch(name, &Launch::new(LAUNCH[0], LAUNCH[1]).dynamic_shared(512).arg(to))?;
    Ok((report, machine.download(to, 120).unwrap()))
}

fn values(body: &str) -> Vec<u64> {
    let (report, values) = launch(&format!("{HEAD}{}", entry("k", body)), "k").unwrap();
    assert!(report.is_clean(), "{body}: {:?} {:?}", report.error, report.findings);
    values
}

/// Of a thread: its block, and its number in it.
type Wanted = fn(u64, u64) -> u64;

#[test]
fn special_registers_that_the_emulator_knows_have_their_values() {
    let registers: &[(&str, u32, Wanted)] = &[
        ("tid.x", 32, |_, t| t),
        ("tid.y", 32, |_, _| 0),
        ("tid.w", 32, |_, _| 0),
        ("ntid.x", 32, |_, _| 40),
        ("ntid.z", 32, |_, _| 1),
        ("ctaid.x", 32, |b, _| b),
        ("ctaid.z", 32, |_, _| 0),
        ("nctaid.x", 32, |_, _| 3),
        ("nctaid.y", 32, |_, _| 1),
        ("laneid", 32, |_, t| t % 32),
        ("warpid", 32, |_, t| t / 32),
        ("nwarpid", 32, |_, _| 64),
        ("smid", 32, |b, _| b),
        ("nsmid", 32, |_, _| 132),
        ("gridid", 64, |_, _| 1),
        ("clusterid.x", 32, |b, _| b),
        ("nclusterid.x", 32, |_, _| 3),
        ("cluster_ctaid.x", 32, |_, _| 0),
        ("cluster_nctaid.y", 32, |_, _| 1),
        ("cluster_ctarank", 32, |_, _| 0),
        ("cluster_nctarank", 32, |_, _| 1),
        ("lanemask_eq", 32, |_, t| 1 << (t % 32)),
        ("lanemask_lt", 32, |_, t| (1 << (t % 32)) - 1),
        ("lanemask_le", 32, |_, t| (2 << (t % 32)) - 1),
        ("lanemask_gt", 32, |_, t| 0xffff_ffff & !((2 << (t % 32)) - 1)),
        ("lanemask_ge", 32, |_, t| 0xffff_ffff & !((1 << (t % 32)) - 1)),
        ("clock_hi", 32, |_, _| 0),
        ("globaltimer_hi", 32, |_, _| 0),
        ("total_smem_size", 32, |_, _| 512),
        ("dynamic_smem_size", 32, |_, _| 512),
        ("current_graph_exec", 64, |_, _| 0),
    ];
    for &(name, bits, wanted) in registers {
        let read = match bits {
            64 => format!("mov.u64 %out, %{name};"),
            _ => format!("mov.u32 %r2, %{name}; cvt.u64.u32 %out, %r2;"),
        };
        let wanted: Vec<u64> = (0..120).map(|i| wanted(i / 40, i % 40)).collect();
        assert_eq!(values(&read), wanted, "{name}");
    }
    let not = "mov.pred %p, %is_explicit_cluster; selp.u64 %out, 1, 0, %p;";
    assert_eq!(values(not), [0; 120]);
    for clock in ["mov.u64 %out, %clock64;", "mov.u64 %out, %globaltimer;"] {
        let later = format!(
            "{clock} mov.u64 %rd2, %out; {clock} setp.ge.u64 %p, %out, %rd2; selp.u64 %out, 1, 0, %p;"
        );
        assert_eq!(values(&later), [1; 120]);
    }
    values("mov.u32 %r2, %clock; mov.u32 %r3, %globaltimer_lo; cvt.u64.u32 %out, %r3;");
}

/// Special registers that only a device has.
fn missing() -> Vec<(String, u32)> {
    // Cooperative launches have the address of their workspace in two of them, OpenCL's the offset of the global index in three.
    let registers = (0..32).filter(|i| !(1..=5).contains(i));
    let mut names: Vec<(String, u32)> = registers.map(|i| (format!("%envreg{i}"), 32)).collect();
    for i in 0..8 {
        names.push((format!("%pm{i}"), 32));
        names.push((format!("%pm{i}_64"), 64));
    }
    for name in ["offset_begin", "offset_end", "offset_cap", "offset_0", "offset_1"] {
        names.push((format!("%reserved_smem_{name}"), 32));
    }
    names.push(("%aggr_smem_size".into(), 32));
    names
}

#[test]
fn special_registers_of_a_device_are_refused_where_they_are_read() {
    for (name, bits) in missing() {
        let register = if bits == 64 { "%out" } else { "%r2" };
        let reads = entry("reads", &format!("mov.u{bits} {register}, {name};"));
        let ptx = format!("{HEAD}{reads}{}", entry("other", "mov.u64 %out, 7;"));
        let (report, values) = launch(&ptx, "other").unwrap();
        assert!(report.is_clean() && values == [7; 120], "{name}");
        match launch(&ptx, "reads").unwrap().0.error {
            Some(LaunchError::Unsupported { reason, .. }) => {
                assert!(reason.contains(&format!("`{name}`")), "{reason}")
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn names_that_are_no_special_registers_stay_undeclared() {
    for name in ["%envreg32", "%envreg", "%pm8", "%pm07", "%reserved_smem_offset_2", "%warp_sz", "WARP_SIZE"]
    {
        let error =
            Program::new(&format!("{HEAD}{}", entry("k", &format!("mov.u32 %r2, {name};")))).unwrap_err();
        assert!(error.to_string().contains(&format!("`{name}` is not declared")), "{error}");
    }
}

#[test]
fn the_size_of_a_warp_stands_wherever_a_constant_may() {
    let module = "
        .const .align 4 .u32 sizes[WARP_SZ / 16] = {WARP_SZ, WARP_SZ * 2 + 1};
        .global .align WARP_SZ .u32 lanes[WARP_SZ];
        .global .u64 behind = lanes + WARP_SZ;
        .shared .align 4 .b8 room[4 * WARP_SZ];
        .func (.param .b32 r) same(.param .b32 x) {
            .reg .b32 %r<WARP_SZ>;
            ld.param.b32 %r31, [x]; st.param.b32 [r], %r31; ret;
        }\n";
    let rows: &[(&str, u64)] = &[
        ("mov.u64 %out, WARP_SZ;", 32),
        ("mov.s64 %out, -WARP_SZ;", 32u64.wrapping_neg()),
        ("mov.u64 %out, ~WARP_SZ;", !32),
        ("mov.u64 %out, WARP_SZ-1;", 31),
        ("mov.u64 %out, (WARP_SZ - 1) * 2;", 62),
        ("mov.u32 %r2, 3; mad.lo.u32 %r2, %r2, WARP_SZ, WARP_SZ; cvt.u64.u32 %out, %r2;", 128),
        ("mov.u64 %out, 5; setp.eq.u64 %p, %out, WARP_SZ; selp.u64 %out, 1, WARP_SZ, %p;", 32),
        ("ld.const.u32 %r2, [sizes]; cvt.u64.u32 %out, %r2;", 32),
        ("mov.u64 %rd2, sizes; ld.const.u32 %r2, [%rd2 + WARP_SZ / 8]; cvt.u64.u32 %out, %r2;", 65),
        ("mov.u64 %rd2, sizes+WARP_SZ; ld.const.u32 %r2, [%rd2+4-WARP_SZ]; cvt.u64.u32 %out, %r2;", 65),
        ("mov.u64 %rd2, lanes; ld.global.u64 %out, [behind]; sub.u64 %out, %out, %rd2;", 32),
        (
            "mov.u32 %r2, room; st.shared.u32 [%r2+3*WARP_SZ], WARP_SZ; ld.shared.u32 %r3, [room+96]; cvt.u64.u32 %out, %r3;",
            32,
        ),
        ("call (%r2), same, (WARP_SZ); cvt.u64.u32 %out, %r2;", 32),
        ("mov.b64 %out, {WARP_SZ, 0};", 32),
        ("shfl.sync.idx.b32 %r2, WARP_SZ, 0, WARP_SZ-1, -1; cvt.u64.u32 %out, %r2;", 32),
    ];
    for (body, wanted) in rows {
        let block = [32, 1, 1];
        let mut machine = Machine::new(Program::new(&format!("{HEAD}{module}{}", entry("k", body))).unwrap());
        let to = machine.allocate(8 * 32).unwrap();
        let report = machine.launch("k", &Launch::new([1; 3], block).arg(to)).unwrap();
        assert!(report.error.is_none(), "{body}: {:?}", report.error);
        assert_eq!(machine.download::<u64>(to, 32).unwrap(), [*wanted; 32], "{body}");
        assert_eq!(machine.symbol("lanes").unwrap().bytes, 128);
    }
    let bounded = format!("{HEAD}.entry k() .maxntid WARP_SZ {{ ret; }}");
    let mut machine = Machine::new(Program::new(&bounded).unwrap());
    assert!(machine.launch("k", &Launch::new([1; 3], [33, 1, 1])).is_err());
    assert!(machine.launch("k", &Launch::new([1; 3], [32, 1, 1])).is_ok());
}

#[test]
fn constant_expressions_are_those_of_c() {
    let rows: &[(&str, i64)] = &[
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("10 - 3 - 2", 5),
        ("-7 / 2", -3),
        ("-7 % 4", -3),
        ("1 << 4 | 3", 19),
        ("6 & 3 ^ 1", 3),
        ("-8 >> 1", -4),
        ("(.u64)-8 >> 60", 15),
        ("~0 >> 70", -1),
        ("1 << 64", 0),
        ("3 < 4 && 4 <= 4", 1),
        ("-1 > 0 || 2 != 2", 0),
        ("0xffffffffffffffff > 0", 1),
        ("!0 + !5", 1),
        ("1 ? 2 : 3", 2),
        ("WARP_SZ == 32 ? WARP_SZ >= 33 ? 1 : 2 : 3", 2),
        ("- -5", 5),
    ];
    for (text, wanted) in rows {
        assert_eq!(values(&format!("mov.s64 %out, {text};")), [*wanted as u64; 120], "{text}");
    }
    for wrong in [
        "1 / 0",
        "1 % (2 - 2)",
        "(1",
        "1 +",
        "* 2",
        &format!("{}1", "(".repeat(100_000)),
        &"-".repeat(100_000),
    ] {
        assert!(
            Program::new(&format!("{HEAD}{}", entry("k", &format!("mov.s64 %out, {wrong};")))).is_err(),
            "{wrong:.20}"
        );
    }
}

#[test]
fn what_is_wrong_in_one_entry_is_no_matter_of_another() {
    let good = entry("good", "mov.u64 %out, 7;");
    for wrong in [
        "mov.u32 %r2, %undeclared;",
        "mov.u32 %r2, %future_register;",
        "call nowhere, (%r1);",
        "bra NOWHERE;",
        ".local .b8 stack[4000000];",
        "ld.global.u32 %r2, [nothing];",
    ] {
        let ptx = format!("{HEAD}{}{good}", entry("bad", wrong));
        let (report, values) = launch(&ptx, "good").unwrap();
        assert!(report.is_clean() && values == [7; 120], "{wrong}");
        let error = launch(&ptx, "bad").unwrap_err();
        assert!(
            matches!(&error, LaunchError::Invalid { function, .. } if function == "bad"),
            "{wrong}: {error}"
        );

        // In a function, it matters to those that call it.
        let function = format!(
            ".func helper() {{ .reg .b32 %r<4>; {wrong} ret; }}\n.func caller() {{ call helper; ret; }}\n"
        );
        let calls = entry("calls", "call caller; mov.u64 %out, 7;");
        let ptx = format!("{HEAD}{function}{calls}{good}");
        assert!(launch(&ptx, "good").unwrap().0.is_clean(), "{wrong}");
        let error = launch(&ptx, "calls").unwrap_err();
        assert!(
            matches!(&error, LaunchError::Invalid { function, .. } if function == "helper"),
            "{wrong}: {error}"
        );

        // Where nothing is right, the module is refused.
        assert!(Program::new(&format!("{HEAD}{}", entry("bad", wrong))).is_err(), "{wrong}");
    }
}
