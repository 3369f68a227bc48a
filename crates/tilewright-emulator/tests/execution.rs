//! What kernels compute, and what is counted while they do. The kernels are those of `tests/data/features.cu` and `benches/speed.cu`.

use crate::features::{clean, features, one_block, words};
use tilewright_emulator::{
    Argument, FindingKind, Launch, LaunchError, LaunchOptions, Machine, Program, Texture, TextureShape,
};

#[test]
fn functions_recurse_and_are_called_through_pointers() {
    let fib = |n: u32| (0..n).fold((0u32, 1u32), |(a, b), _| (b, a + b)).0;
    let out = words("recursion", 64, 64, |_| vec![]);
    assert!((0..64).all(|t| out[t as usize] == fib(t % 12)));
    let out = words("pointers", 32, 32, |_| vec![]);
    assert!((0..32).all(|t| out[t as usize] == if t % 3 == 0 { t * t } else { 2 * t } + 1));
}

#[test]
fn symbols_are_initialised_and_can_be_written() {
    let mut machine = features();
    let out = machine.allocate(4 * 32).unwrap();
    let launch = one_block(32).arg(out);
    clean(machine.launch("constants", &launch).unwrap());
    let rows = [0.0, 6.0];
    let expected: Vec<f32> = (0..32).map(|t| (t % 8 + 1) as f32 + 3.0 + rows[t % 2]).collect();
    assert_eq!(machine.download::<f32>(out, 32).unwrap(), expected);
    machine.write_symbol("table", &[10f32; 8]).unwrap();
    clean(machine.launch("constants", &launch).unwrap());
    assert_eq!(machine.download::<f32>(out, 1).unwrap(), [20.0]);
    assert!(machine.write_symbol("table", &[0f32; 9]).is_err());
    assert!(machine.symbol("tables").unwrap_err().to_string().contains("table, counter"));
}

#[test]
fn printf_prints_in_the_order_of_blocks() {
    let mut machine = features();
    let launch = Launch::new([3, 1, 1], [32, 1, 1]).arg(5i32);
    let report = clean(machine.launch("prints", &launch).unwrap());
    let line = |block| format!("block {block}: text 7.50 1099511627776     7|\n");
    assert_eq!(report.printed, [line(0), line(1), line(2)].concat());
}

#[test]
fn a_failed_assertion_ends_the_launch() {
    let mut machine = features();
    clean(machine.launch("asserts", &one_block(32).arg(32i32)).unwrap());
    let report = machine.launch("asserts", &one_block(32).arg(20i32)).unwrap();
    assert!(
        matches!(&report.error, Some(LaunchError::Assertion { message, .. }) if message == "threadIdx.x < n")
    );
    let finding = report.errors().next().unwrap();
    assert_eq!((finding.kind, finding.at.threads[0]), (FindingKind::Assertion, [20, 0, 0]));
}

#[test]
fn local_arrays_are_private() {
    let out = words("locals", 64, 64, |_| vec![10i32.into()]);
    for t in 0..64u32 {
        let sum: u32 = (0..10).map(|i| (i * 7 + t) % 16 * t).sum();
        assert_eq!(out[t as usize], sum);
    }
}

#[test]
fn structs_pass_by_value() {
    let mut machine = features();
    let out = machine.allocate(8 * 6).unwrap();
    let mut pair = Vec::new();
    pair.extend(7i32.to_le_bytes());
    pair.extend([0; 4]);
    pair.extend(0.25f64.to_le_bytes());
    [1i16, 2, 3, 0].iter().for_each(|c| pair.extend(c.to_le_bytes()));
    clean(machine.launch("by_value", &one_block(6).arg(Argument::bytes(&pair)).arg(out)).unwrap());
    assert_eq!(machine.download::<f64>(out, 6).unwrap(), [8.25, 9.25, 10.25, 8.25, 9.25, 10.25]);
    let error =
        machine.launch("by_value", &one_block(6).arg(Argument::bytes(&pair[..20])).arg(out)).unwrap_err();
    assert!(matches!(error, LaunchError::Argument { index: 0, .. }));
}

#[test]
fn floating_point_is_rounded_as_written() {
    let mut machine = features();
    let x: Vec<f64> = (0..32).map(|i| f64::from(i) * 0.37).collect();
    let input = machine.upload(&x).unwrap();
    let out = machine.allocate(8 * 32).unwrap();
    clean(machine.launch("doubles", &one_block(32).arg(input).arg(out)).unwrap());
    for (x, out) in x.iter().zip(machine.download::<f64>(out, 32).unwrap()) {
        let steps = [x.mul_add(*x, -1.0), x.min(2.0), (x * 1.7).round_ties_even()];
        assert_eq!(out, x.sqrt() / (x + 3.0) + steps[0] - steps[1] + steps[2], "{x}");
    }
    let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let input = machine.upload(&x).unwrap();
    let out = machine.allocate(4 * 64).unwrap();
    clean(machine.launch("floats", &one_block(32).arg(input).arg(out)).unwrap());
    let values = machine.download::<f32>(out, 64).unwrap();
    for (t, x) in x.iter().enumerate() {
        let steps = [x.mul_add(*x, -1.0), x.min(2.0), (x * 1.7).round_ties_even()];
        assert_eq!(values[t], x.sqrt() / (x + 3.0) + steps[0] - steps[1] + steps[2], "{x}");
        let smooth = x.sin() + (x * 0.1).exp() + (x + 1.0).ln();
        assert!((values[32 + t] - smooth).abs() < 1e-5, "{x}: {} {smooth}", values[32 + t]);
    }
}

#[test]
fn integers_of_all_widths() {
    let x: Vec<i32> = (0..32).map(|t: i32| t.wrapping_mul(0x1234_5677) ^ 0x55).collect();
    let mut machine = features();
    let input = machine.upload(&x).unwrap();
    let out = machine.allocate(4 * 128).unwrap();
    clean(machine.launch("integers", &one_block(32).arg(input).arg(out)).unwrap());
    let out = machine.download::<i32>(out, 128).unwrap();
    for (t, &v) in x.iter().enumerate() {
        let u = v as u32;
        let bytes = [u.to_le_bytes(), 0x1234_5678u32.to_le_bytes()].concat();
        let permuted = u32::from_le_bytes([bytes[5], bytes[1], bytes[7], bytes[3]]) as i32;
        let ffs = if v == 0 { 0 } else { v.trailing_zeros() as i32 + 1 };
        let bits = (u.count_ones() + u.leading_zeros()) as i32 + ffs;
        let expected = bits
            .wrapping_add(v.reverse_bits())
            .wrapping_add(permuted)
            .wrapping_add(v / 7)
            .wrapping_add(v % 13);
        assert_eq!(out[t], expected, "{v:#x}");
        let high = ((i64::from(v) * 0x12345) >> 32) as i32;
        let funnel = ((u64::from(t as u32) << 32 | u64::from(u)) << 7 >> 32) as i32;
        let differences: u32 = u
            .to_le_bytes()
            .iter()
            .zip(0x0102_0304u32.to_le_bytes())
            .enumerate()
            .map(|(i, (a, b))| u32::from(a.abs_diff(b)) << (8 * i))
            .sum();
        let dot: i32 = v.to_le_bytes().iter().map(|&byte| i32::from(byte as i8)).sum::<i32>() + 3;
        let expected = high
            .wrapping_add(funnel)
            .wrapping_add(differences as i32)
            .wrapping_add(dot)
            .wrapping_add(v.wrapping_add(3).min(9))
            .wrapping_add(v.min(4).min(t as i32));
        assert_eq!(out[32 + t], expected, "{v:#x}");
        let w = i64::from(v).wrapping_mul(v.into()).wrapping_mul(v.into());
        assert_eq!(out[64 + t], (w >> 17) as i32 ^ (w / 1_000_003) as i32 ^ (w % 977) as i32, "{v:#x}");
        let big = (i128::from(w) as u128).wrapping_mul(0x0123_4567_89ab_cdef);
        assert_eq!(out[96 + t], (big >> 64) as i32 ^ (big >> 3) as i32, "{v:#x}");
    }
}

#[test]
fn half_precision() {
    let mut machine = features();
    let x: Vec<f32> = (0..32).map(|i| i as f32 * 0.25).collect();
    let input = machine.upload(&x).unwrap();
    let out = machine.allocate(4 * 64).unwrap();
    clean(machine.launch("halves", &one_block(32).arg(input).arg(out)).unwrap());
    let out = machine.download::<f32>(out, 64).unwrap();
    for (t, x) in x.iter().enumerate() {
        assert_eq!(out[t], x * x + 0.5 + (x + 1.0) * (x + 1.0) + 0.5, "{x}");
        assert_eq!(out[32 + t], x + 1.0);
    }
}

#[test]
fn kernels_allocate() {
    let mut machine = features();
    let out = machine.allocate(4 * 32).unwrap();
    clean(machine.launch("heap", &one_block(32).arg(0u64).arg(out)).unwrap());
    let expected: Vec<i32> = (0..32).map(|t| 2 * t).collect();
    assert_eq!(machine.download::<i32>(out, 32).unwrap(), expected);
}

#[test]
fn textures_read_arrays() {
    let mut machine = features();
    let values: Vec<f32> = (0..16).map(|i| (i * i) as f32).collect();
    let texture = machine.texture(Texture::new([4, 4, 1], &values));
    let out = machine.allocate(4 * 16).unwrap();
    clean(machine.launch("texture_reads", &one_block(16).arg(texture).arg(out)).unwrap());
    assert_eq!(machine.download::<f32>(out, 16).unwrap(), values);
}

#[test]
fn dynamic_shared_memory_has_the_size_of_the_launch() {
    let mut machine = features();
    let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let input = machine.upload(&values).unwrap();
    let out = machine.allocate(4 * 32).unwrap();
    let launch = one_block(32).arg(input).arg(out).arg(100i32).dynamic_shared(400);
    clean(machine.launch("dynamic", &launch).unwrap());
    assert_eq!(machine.download::<f32>(out, 1).unwrap(), [99.0]);
    let report = machine.launch("dynamic", &launch.clone().dynamic_shared(396)).unwrap();
    assert_eq!(report.errors().next().unwrap().kind, FindingKind::OutOfBounds);
}

#[test]
fn products_are_exact_and_counted() {
    let n = 64usize;
    let a: Vec<f32> = (0..n * n).map(|i| (i * 7919 % 1009) as f32 / 64.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i * 104_729 % 997) as f32 / 128.0).collect();
    for (kernel, block) in
        [("naive", [32, 8]), ("coalesced", [32, 8]), ("tile16", [16, 16]), ("tile32", [32, 32])]
    {
        let mut machine = Machine::new(Program::new(include_str!("../benches/speed.ptx")).unwrap());
        let (da, db) = (machine.upload(&a).unwrap(), machine.upload(&b).unwrap());
        let dc = machine.allocate(4 * (n * n) as u64).unwrap();
        let grid = [n as u32 / block[0], n as u32 / block[1], 1];
        let launch = Launch::new(grid, [block[0], block[1], 1]).arg(da).arg(db).arg(dc).arg(n as u32);
        let report = clean(machine.launch(kernel, &launch).unwrap());
        let c = machine.download::<f32>(dc, n * n).unwrap();
        for row in 0..n {
            for column in 0..n {
                let sum = (0..n).fold(0f32, |sum, k| a[row * n + k].mul_add(b[k * n + column], sum));
                assert_eq!(c[row * n + column], sum, "{kernel} {row} {column}");
            }
        }
        let counters = &report.counters;
        assert_eq!(counters.flops, 2 * (n * n * n) as u64);
        let warps = (n * n / 32) as u64;
        let per_request = match kernel {
            // 32 rows apart, and one for all.
            "naive" => (32 + 1) as f64 / 2.0,
            "coalesced" => (1 + 4) as f64 / 2.0,
            _ => 4.0,
        };
        assert_eq!(counters.global_load.sectors_per_request(), per_request, "{kernel}");
        if kernel == "tile32" {
            assert_eq!(counters.shared_load.requests, 2 * warps * n as u64);
            assert_eq!(counters.shared_load.conflicts(), 0);
            assert_eq!(counters.barriers, warps * 2 * (n / 32) as u64);
        }
        let by_line: u64 = counters.lines.values().map(|line| line.executions).sum();
        let without_line = counters.instructions.iter().filter(|instruction| instruction.source.is_none());
        let without_line: u64 = without_line.map(|instruction| instruction.executions).sum();
        assert_eq!(by_line + without_line, counters.warp_instructions);
    }
}

#[test]
fn tensor_cores_multiply() {
    // Small integers, exact in f16: C = 2 (A B + 1) and A B, with B by columns.
    let a: Vec<i32> = (0..256).map(|i| i * 37 % 11 - 5).collect();
    let b: Vec<i32> = (0..256).map(|i| i * 53 % 13 - 6).collect();
    let half = |values: &[i32]| -> Vec<u16> {
        values.iter().map(|&value| tilewright_core::f16::from_f32(value as f32).to_bits()).collect()
    };
    for (kernel, scale, add) in [("wmma_product", 2, 1), ("mma_product", 1, 0)] {
        let mut machine = Machine::new(Program::new(include_str!("data/matrices.ptx")).unwrap());
        let (da, db) = (machine.upload(&half(&a)).unwrap(), machine.upload(&half(&b)).unwrap());
        let dc = machine.allocate(4 * 256).unwrap();
        let report = clean(machine.launch(kernel, &one_block(32).arg(da).arg(db).arg(dc)).unwrap());
        let c = machine.download::<f32>(dc, 256).unwrap();
        for row in 0..16 {
            for column in 0..16 {
                let sum: i32 = (0..16).map(|k| a[row * 16 + k] * b[column * 16 + k]).sum();
                assert_eq!(c[row * 16 + column], (scale * (sum + add)) as f32, "{kernel} {row} {column}");
            }
        }
        assert_eq!(report.counters.matrix_operations, 2 * 16 * 16 * 16, "{kernel}");
    }
}

#[test]
fn limits_are_kept() {
    let mut machine = features();
    let out = machine.allocate(4 * 64).unwrap();
    let launch = one_block(64).arg(out);
    let options = LaunchOptions { step_limit: Some(10), ..LaunchOptions::default() };
    let report = machine.launch("recursion", &launch.clone().options(options)).unwrap();
    assert_eq!(report.error, Some(LaunchError::StepLimit { limit: 10 }));
    let options = LaunchOptions { memory_limit: 1000, ..LaunchOptions::default() };
    assert!(matches!(
        machine.launch("recursion", &launch.clone().options(options)),
        Err(LaunchError::MemoryLimit { .. })
    ));
    assert!(matches!(machine.launch("recursio", &launch), Err(LaunchError::NoEntry { .. })));
    assert!(matches!(
        machine.launch("recursion", &one_block(2000).arg(out)),
        Err(LaunchError::Extent { .. })
    ));
    assert!(matches!(machine.launch("recursion", &one_block(32)), Err(LaunchError::Argument { .. })));
    let huge = launch.dynamic_shared(300 << 10);
    assert!(matches!(machine.launch("recursion", &huge), Err(LaunchError::SharedMemory { .. })));
}

#[test]
fn cubes_gathers_levels_and_extents_of_textures() {
    let ptx = ".version 9.0 .target sm_90 .address_size 64
        .global .texref cube; .global .texref flat;
        .global .align 16 .f32 directions[24] = {
            1.0, 0.5, 0.5, 0.0,  -1.0, 0.5, 0.5, 0.0,  0.5, 1.0, 0.5, 0.0,
            0.5, -1.0, 0.5, 0.0,  0.5, 0.5, 1.0, 0.0,  0.5, 0.5, -1.0, 0.0 };
        .visible .entry k(.param .u64 to) {
            .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .f32 %f<9>;
            ld.param.u64 %rd1, [to]; mov.u32 %r1, %tid.x;
            mul.wide.u32 %rd2, %r1, 16; mov.u64 %rd3, directions; add.u64 %rd3, %rd3, %rd2; add.u64 %rd1, %rd1, %rd2;
            ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];
            tex.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [cube, {%f1, %f2, %f3, %f4}];
            st.global.f32 [%rd1], %f5;
            tld4.r.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [flat, {0f3F800000, 0f3F800000}];
            fma.rn.f32 %f5, %f5, 0f41200000, %f6; fma.rn.f32 %f5, %f5, 0f41200000, %f7; fma.rn.f32 %f5, %f5, 0f41200000, %f8;
            st.global.f32 [%rd1+4], %f5;
            tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [flat, {0f3F800000, 0f00000000}], 0f40000000;
            st.global.f32 [%rd1+8], %f5;
            txq.width.b32 %r2, [cube]; cvt.rn.f32.u32 %f5, %r2; txq.array_size.b32 %r2, [cube]; cvt.rn.f32.u32 %f6, %r2;
            fma.rn.f32 %f5, %f5, 0f41200000, %f6; st.global.f32 [%rd1+12], %f5;
            ret;
        }";
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let faces: Vec<f32> = (0..24u8).map(|texel| f32::from(texel / 4 * 10 + texel % 4)).collect();
    let cube = Texture { shape: TextureShape::Cube, ..Texture::new([2, 2, 6], &faces) };
    machine.bind_texture("cube", cube).unwrap();
    machine.bind_texture("flat", Texture::new([2, 2, 1], &[5.0, 6.0, 7.0, 8.0])).unwrap();
    let to = machine.upload(&[0f32; 24]).unwrap();
    clean(machine.launch("k", &one_block(6).arg(to)).unwrap());
    let texels = [0.0, 11.0, 23.0, 31.0, 41.0, 50.0];
    let wanted: Vec<f32> = texels.into_iter().flat_map(|texel| [texel, 7865.0, 6.0, 26.0]).collect();
    assert_eq!(machine.download::<f32>(to, 24).unwrap(), wanted);
}

#[test]
fn unknown_instructions_are_refused_when_they_are_executed() {
    let ptx = ".version 9.0 .target sm_90 .address_size 64
        .visible .entry k(.param .u32 n) {
            .reg .u32 %r<3>; .reg .pred %p;
            ld.param.u32 %r1, [n];
            setp.eq.u32 %p, %r1, 0;
            @%p bra DONE;
            frobnicate.sync.x7.b32 %r2|%p, [%r1, {%r1, 3}], 0f3F800000;
            DONE: ret;
        }";
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    clean(machine.launch("k", &one_block(32).arg(0u32)).unwrap());
    let report = machine.launch("k", &one_block(32).arg(1u32)).unwrap();
    assert!(matches!(
        report.error,
        Some(LaunchError::Unsupported { ref opcode, line: 7, .. }) if opcode == "frobnicate.sync.x7.b32"
    ));
}
