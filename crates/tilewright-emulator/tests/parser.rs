//! The parser and the decoder take whatever they get: real modules whole, broken ones with an error.
//!
//! `TILEWRIGHT_PTX_DIR=folder cargo test -p tilewright-emulator --test it parser:: -- --nocapture` reads every `.ptx` of a folder of your own too, and
//! lists what would be refused.

use proptest::prelude::*;
use tilewright_emulator::{Program, parse::parse};

const MODULES: &[&str] = &[
    include_str!("data/features.ptx"),
    include_str!("../benches/speed.ptx"),
    include_str!("faults/deadlock.ptx"),
    include_str!("faults/missing_barrier.ptx"),
];

/// Forms that compilers write seldom or for other targets.
const UNUSUAL: &str = r#"
.version 9.1
.target sm_120a, debug
.address_size 64
.file 1 "a.cu", 1700000000, 123
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.func (.reg .u32 out) add1 (.reg .u32 in) .noreturn ;
.visible .global .align 4 .b8 bytes[4] = {0xFF(later), 0xFF00(later), 255, -1};
.global .align 8 .u64 pointers[2] = {generic(later)+4, later};
.global .align 4 .f32 later[2][2] = {{0f3F800000, 1.5}, {2}};
.global .attribute(.managed) .align 4 .u32 managed;
.const .align 4 .u32 bank = 7;
.extern .shared .align 16 .b8 dynamic[];
.global .texref image;
.global .samplerref how = { addr_mode_0 = clamp_to_edge, filter_mode = linear };
.weak .func helper() { ret; }
.alias other, helper;
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24])
.maxntid 128, 1, 1
.minnctapersm 2
.explicitcluster .reqnctapercluster 2, 1, 1
{
    .reg .b32 %r<10>, extra; .reg .pred p, %q<2>; .reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .v4 .f32 quad;
    .pragma "nounroll";
    .loc 1 2 3, function_name $L__info_string0+4, inlined_at 1 4 5
    { .reg .pred p; LOOP: setp.ne.s32 p, %r1, -3; @!p bra DONE; bra.uni LOOP; DONE: }
    { LOOP: @p bra LOOP; }
    table: .branchtargets A, B;
    A: brx.idx %r1, table;
    B: tex.2d.v4.f32.f32 {%f1, %f2, _, %f4}, [image, {%f5, %f6}];
    ld.global.nc.L1::no_allocate.L2::128B.v2.b32 {%r1, %r2}, [%rd1+-16];
    mov.b32 %r3, {%r1.b0, %r2.b1};
    shfl.sync.down.b32 %r4|p, %r1, 1, 31, -1;
    setp.lt.and.f32 p|%q1, %f1, 0d3FF0000000000000, !%q0;
    vadd.u32.s32.u32.sat %r1.b0, %r2.h1, %r3.b3, %r4;
    call (%r1), add1, (%r2);
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, p, 1, 1, 0, 0;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
    mov.u64 %rd2, k; mov.u32 %r1, %tid.x; add.s32 %r1, %r1, 0b101U; mov.u32 %r1, -0x10;
    exit;
}
.section .debug_str { $L__info_string0: .b8 95, 0 }
"#;

#[test]
fn modules_of_compilers_parse_and_decode() {
    for text in MODULES.iter().chain([&UNUSUAL]) {
        let module = parse(text).unwrap();
        assert!(!module.functions.is_empty());
        Program::new(text).unwrap();
    }
}

#[test]
fn every_instruction_of_compiled_modules_is_supported() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let own = std::env::var_os("TILEWRIGHT_PTX_DIR");
    let mut refused = std::collections::BTreeMap::new();
    for folder in [data.into()].into_iter().chain(own) {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let program = Program::new(&std::fs::read_to_string(&path).unwrap());
            let program = program.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for (_, opcode, why) in program.unsupported() {
                *refused.entry(format!("{opcode}: {why}")).or_insert(0) += 1;
            }
            println!("{}: {} bytes per thread", path.display(), program.bytes_per_thread());
            if folder == *data {
                assert!(refused.is_empty(), "{}: {refused:?}", path.display());
                assert!(program.bytes_per_thread() < 2048, "{}", path.display());
            }
        }
    }
    println!("{refused:#?}");
}

#[test]
fn errors_name_the_place() {
    let error = parse(".version 9.0\n.target sm_90\n.entry k() {\n  add.s32 %r1, %r2 %r3;\n}").unwrap_err();
    assert_eq!((error.line, error.column), (4, 20), "{error}");
    let error = Program::new(".version 9.0 .target sm_90\n.entry k() { .reg .u32 %r<2>; mov.u32 %r1, %r2; }")
        .unwrap_err();
    assert_eq!(error.to_string(), "PTX line 2: `%r2` is not declared");
}

/// Found by fuzzing: an index out of bounds.
#[test]
fn too_many_operands_are_refused() {
    let text = ".version 9.0 .target sm_90 .address_size 64
        .entry k() { .reg .f32 %f<6>; fma.rn.f32 %f1, %f2, %f3, %f4, %f5; ret; }";
    let program = Program::new(text).unwrap();
    let refused: Vec<&str> = program.unsupported().map(|(_, opcode, _)| opcode).collect();
    assert_eq!(refused, ["fma.rn.f32"]);
}

#[test]
fn initialised_variables_have_their_bytes() {
    let program = Program::new(UNUSUAL).unwrap();
    let names: Vec<&str> = program.symbols().iter().map(|symbol| symbol.name.as_str()).collect();
    assert!(names.contains(&"later") && names.contains(&"bank"));
    let mut machine = tilewright_emulator::Machine::new(program);
    assert_eq!(machine.read_symbol::<f32>("later", 4).unwrap(), [1.0, 1.5, 2.0, 0.0]);
    let address = machine.symbol("later").unwrap().address;
    assert_eq!(machine.read_symbol::<u64>("pointers", 2).unwrap(), [address + 4, address]);
    assert_eq!(
        machine.read_symbol::<u8>("bytes", 4).unwrap(),
        [address as u8, (address >> 8) as u8, 255, 255]
    );
}

#[test]
fn deep_nesting_is_no_stack_overflow() {
    let open = "{".repeat(100_000);
    assert!(parse(&format!(".entry k() {{ {open}")).is_err());
    assert!(parse(&format!(".entry k() {{ mov.u32 {}", "[".repeat(100_000))).is_err());
    assert!(parse(&format!(".global .u32 x[] = {open}")).is_err());
}

/// A few lines of a module, with some bytes changed.
fn mutated() -> impl Strategy<Value = String> {
    let module = (0..MODULES.len() + 1).prop_map(|index| MODULES.get(index).copied().unwrap_or(UNUSUAL));
    let edits = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..8);
    (module, edits, any::<prop::sample::Index>()).prop_map(|(module, edits, start)| {
        let lines: Vec<&str> = module.lines().collect();
        let start = start.index(lines.len());
        let mut bytes = lines[start..lines.len().min(start + 120)].join("\n").into_bytes();
        if start % 2 == 0 {
            bytes =
                [b".entry k() {\n.reg .u32 %r<999>; .reg .pred %p<99>; .reg .u64 %rd<999>;\n", &bytes[..]]
                    .concat();
        }
        for (place, byte, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"{}[];,.%@!<>=+-0x\""[byte as usize % 18]),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn broken_modules_are_errors_and_no_panics(text in mutated()) {
        let _ = Program::new(&text);
    }

    #[test]
    fn any_text_is_no_panic(text in "\\PC*") {
        let _ = Program::new(&text);
    }
}
