//! Texture reads beside the definitions of CUDA's programming guide, computed in another way: along a lattice of texels that is laid out in full.

use tilewright_emulator::{
    AddressMode, Coordinates, Filter, FindingKind, Launch, LaunchError, Machine, Program, Report, Sampler,
    TexelFormat, TexelRead, Texels, Texture, TextureShape,
};

/// A kernel in which each thread reads at coordinates of its own: `%f1` to `%f3`, and the layer `%r2`; what it gets is stored as four words.
fn kernel(read: &str) -> Machine {
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 at, .param .u64 to)\n{{\n\
         .reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .f32 %f<4>;\n\
         ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [at]; ld.param.u64 %rd3, [to]; mov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd4, %r1, 16; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;\n\
         ld.global.f32 %f1, [%rd2]; ld.global.f32 %f2, [%rd2+4]; ld.global.f32 %f3, [%rd2+8]; ld.global.u32 %r2, [%rd2+12];\n\
         mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0;\n\
         {read}\n\
         st.global.v4.u32 [%rd3], {{%r5, %r6, %r7, %r8}};\nret;\n}}\n"
    );
    Machine::new(Program::new(&ptx).unwrap())
}

fn run(
    read: &str,
    texture: impl FnOnce(u64) -> Texture,
    bytes: &[u8],
    at: &[[u32; 4]],
) -> (Report, Vec<[u32; 4]>) {
    let mut machine = kernel(read);
    let texels = machine.upload(bytes).unwrap();
    let coordinates = machine.upload(&at.concat()).unwrap();
    let to = machine.upload(&vec![0u32; 4 * at.len()]).unwrap();
    let launch = Launch::new([1; 3], [at.len() as u32, 1, 1]).arg(77u64).arg(coordinates).arg(to);
    let report = machine.launch("k", &launch.texture(77, texture(texels.address()))).unwrap();
    let words: Vec<u32> = machine.download(to, 4 * at.len()).unwrap();
    (report, words.chunks_exact(4).map(|four| four.try_into().unwrap()).collect())
}

/// The texel at each place of a lattice along one axis, from `-4 n` to `5 n`; none in the border.
fn lattice(mode: AddressMode, n: usize) -> Vec<Option<usize>> {
    let once: Vec<usize> = (0..n).collect();
    let back: Vec<usize> = once.iter().rev().copied().collect();
    let copies = |copy: i32| match mode {
        AddressMode::Wrap => once.iter().map(|&i| Some(i)).collect(),
        AddressMode::Mirror if copy % 2 != 0 => back.iter().map(|&i| Some(i)).collect(),
        AddressMode::Mirror => once.iter().map(|&i| Some(i)).collect(),
        AddressMode::Clamp if copy < 0 => vec![Some(0); n],
        AddressMode::Clamp if copy > 0 => vec![Some(n - 1); n],
        AddressMode::Border if copy != 0 => vec![None; n],
        _ => once.iter().map(|&i| Some(i)).collect::<Vec<_>>(),
    };
    (-4..5).flat_map(copies).collect()
}

/// What the guide defines, one axis after the other; `texel` has the values.
fn expected(
    texel: &dyn Fn([usize; 3]) -> f64,
    extent: &[usize],
    modes: &[AddressMode],
    filter: Filter,
    at: &[f64],
    chosen: &mut Vec<usize>,
) -> f64 {
    let Some(axis) = at.len().checked_sub(1 + chosen.len()) else {
        let mut index = [0; 3];
        chosen.iter().rev().enumerate().for_each(|(axis, &i)| index[axis] = i);
        return texel(index);
    };
    let lattice = lattice(modes[axis], extent[axis]);
    let mut value_at = |place: f64| match lattice[(place + 4.0 * extent[axis] as f64) as usize] {
        Some(index) => {
            chosen.push(index);
            let value = expected(texel, extent, modes, filter, at, chosen);
            chosen.pop();
            value
        }
        None => 0.0,
    };
    match filter {
        Filter::Point => value_at(at[axis].floor()),
        Filter::Linear => {
            let low = (at[axis] - 0.5).floor();
            let part = ((at[axis] - 0.5 - low) * 256.0).round() / 256.0;
            (1.0 - part) * value_at(low) + part * value_at(low + 1.0)
        }
    }
}

struct Random(u32);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % n
    }
}

#[test]
fn shapes_modes_filters_and_coordinates() {
    use AddressMode::{Border, Clamp, Mirror, Wrap};
    // Sizes of which none is a power of two, and a layer behind the last one.
    let shapes = [
        ("tex.1d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1}];", TextureShape::D1, [7, 1, 1], 1),
        ("tex.2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1, %f2}];", TextureShape::D2, [5, 3, 1], 2),
        (
            "tex.3d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1, %f2, %f3, %f3}];",
            TextureShape::D3,
            [3, 5, 2],
            3,
        ),
        (
            "tex.a1d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%r2, %f1}];",
            TextureShape::D1Layered,
            [6, 1, 3],
            1,
        ),
        (
            "tex.level.a2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%r2, %f1, %f2, %f2}], 0f00000000;",
            TextureShape::D2Layered,
            [3, 4, 2],
            2,
        ),
    ];
    let choices = [
        ([Clamp; 3], Coordinates::Texels),
        ([Border; 3], Coordinates::Texels),
        ([Clamp, Border, Wrap], Coordinates::Normalized),
        ([Wrap, Mirror, Clamp], Coordinates::Normalized),
        ([Mirror, Wrap, Mirror], Coordinates::Normalized),
    ];
    let mut random = Random(1);
    for (read, shape, extent, dims) in shapes {
        let texels: Vec<f32> =
            (0..extent.iter().product::<usize>()).map(|i| (i * i % 17) as f32 - 4.0).collect();
        let value = |[x, y, z]: [usize; 3]| f64::from(texels[(z * extent[1] + y) * extent[0] + x]);
        let bytes: Vec<u8> = texels.iter().flat_map(|texel| texel.to_le_bytes()).collect();
        for ((modes, coordinates), filter) in
            choices.iter().flat_map(|choice| [Filter::Point, Filter::Linear].map(|filter| (*choice, filter)))
        {
            // From two textures before the first texel to three behind it; never at the edge of a texel or in the middle of two weights, where a mirror would round the
            // other way.
            let mut place = |extent: usize| match coordinates {
                Coordinates::Texels => {
                    (2 * random.below(5 * 512 * extent as u32) + 1) as f32 / 1024.0 - 2.0 * extent as f32
                }
                Coordinates::Normalized => (16 * random.below(5 * 256) + 1) as f32 / 4096.0 - 2.0,
            };
            let at: Vec<([f32; 3], u32)> = (0..128u32).map(|i| (extent.map(&mut place), i % 4)).collect();
            let words: Vec<_> =
                at.iter().map(|([x, y, z], layer)| [x.to_bits(), y.to_bits(), z.to_bits(), *layer]).collect();
            let texture = |address| Texture {
                shape,
                extent,
                channels: 1,
                texels: Texels::Memory {
                    address,
                    pitch: 4 * extent[0] as u64,
                    format: TexelFormat::Word,
                    read: TexelRead::AsItIs,
                },
                sampler: Sampler { address_modes: modes, filter, coordinates },
            };
            let (report, found) = run(read, texture, &bytes, &words);
            assert!(report.is_clean(), "{shape:?}: {:?} {:?}", report.findings, report.error);
            for ((at, layer), found) in at.iter().zip(found) {
                let counts = |(axis, &at): (usize, &f32)| match coordinates {
                    Coordinates::Texels => f64::from(at),
                    Coordinates::Normalized => f64::from(at) * extent[axis] as f64,
                };
                let at: Vec<f64> = at.iter().enumerate().map(counts).take(dims).collect();
                let layer = (*layer as usize).min(extent[2] - 1);
                let texel = |[x, y, z]: [usize; 3]| value([x, y, if dims == 3 { z } else { layer }]);
                let wanted = expected(&texel, &extent, &modes, filter, &at, &mut Vec::new());
                let got = f64::from(f32::from_bits(found[0]));
                assert!(
                    (got - wanted).abs() < 1e-4,
                    "{shape:?} {modes:?} {filter:?} {at:?}: {got}, not {wanted}"
                );
                assert_eq!(found[1..], [0; 3]);
            }
        }
    }
}

#[test]
fn formats_and_channels() {
    let at: Vec<[u32; 4]> = (0..3u32).map(|x| [(x as f32 + 0.5).to_bits(), 0, 0, 0]).collect();
    let read = "tex.1d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1}];";
    let fetch = |format, read_as, channels: usize, filter, bytes: &[u8], at: &[[u32; 4]]| {
        let texture = |address| Texture {
            shape: TextureShape::D1,
            extent: [3, 1, 1],
            channels,
            texels: Texels::Memory { address, pitch: 0, format, read: read_as },
            sampler: Sampler { filter, ..Sampler::default() },
        };
        let (report, found) = run(read, texture, bytes, at);
        assert!(report.is_clean());
        found
    };
    let bytes: Vec<u8> = (0..3 * 4 * 4).map(|i| (i * 37 + 128) as u8).collect();
    let halves: Vec<u8> =
        bytes.iter().enumerate().map(|(i, b)| if i % 2 == 1 { b & 0x3f } else { *b }).collect();
    let signed = |value: i32| value.cast_unsigned();
    let near = |found: u32, wanted: f64| assert!((f64::from(f32::from_bits(found)) - wanted).abs() < 1e-6);
    for channels in [1, 2, 4] {
        let all = |format, read, bytes: &[u8]| fetch(format, read, channels, Filter::Point, bytes, &at);
        let (u8s, s8s) = (
            all(TexelFormat::U8, TexelRead::AsItIs, &bytes),
            all(TexelFormat::S8, TexelRead::AsItIs, &bytes),
        );
        let (u16s, s16s) = (
            all(TexelFormat::U16, TexelRead::AsItIs, &bytes),
            all(TexelFormat::S16, TexelRead::AsItIs, &bytes),
        );
        let (u8f, s8f) = (
            all(TexelFormat::U8, TexelRead::Normalized, &bytes),
            all(TexelFormat::S8, TexelRead::Normalized, &bytes),
        );
        let (u16f, s16f) = (
            all(TexelFormat::U16, TexelRead::Normalized, &bytes),
            all(TexelFormat::S16, TexelRead::Normalized, &bytes),
        );
        let (words, f16s) = (
            all(TexelFormat::Word, TexelRead::AsItIs, &bytes),
            all(TexelFormat::F16, TexelRead::AsItIs, &halves),
        );
        for (texel, channel) in (0..3).flat_map(|texel| (0..channels).map(move |channel| (texel, channel))) {
            let index = texel * channels + channel;
            let short = [bytes[2 * index], bytes[2 * index + 1]];
            let word = [short, [0; 2]];
            let byte = bytes[index];
            assert_eq!(u8s[texel][channel], u32::from(byte));
            assert_eq!(s8s[texel][channel], signed(i32::from(byte as i8)));
            assert_eq!(u16s[texel][channel], u32::from_le_bytes(word.concat().try_into().unwrap()));
            assert_eq!(s16s[texel][channel], signed(i32::from(i16::from_le_bytes(short))));
            near(u8f[texel][channel], f64::from(byte) / 255.0);
            near(s8f[texel][channel], (f64::from(byte as i8) / 127.0).max(-1.0));
            near(u16f[texel][channel], f64::from(u16::from_le_bytes(short)) / 65535.0);
            near(s16f[texel][channel], (f64::from(i16::from_le_bytes(short)) / 32767.0).max(-1.0));
            assert_eq!(
                words[texel][channel],
                u32::from_le_bytes(bytes[4 * index..][..4].try_into().unwrap())
            );
            let half = u16::from_le_bytes([halves[2 * index], halves[2 * index + 1]]);
            near(f16s[texel][channel], f64::from(f16(half)));
        }
    }
    // Bytes are interpolated as the floats that they stand for.
    let middle = fetch(
        TexelFormat::U8,
        TexelRead::Normalized,
        1,
        Filter::Linear,
        &[0, 255, 0, 0],
        &[[1f32.to_bits(), 0, 0, 0]],
    );
    near(middle[0][0], 0.5);
}

/// A half of no special kind.
fn f16(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

fn plain(shape: TextureShape, extent: [usize; 3], sampler: Sampler) -> impl FnOnce(u64) -> Texture {
    move |address| Texture {
        shape,
        extent,
        channels: 1,
        texels: Texels::Memory {
            address,
            pitch: 4 * extent[0] as u64,
            format: TexelFormat::Word,
            read: TexelRead::AsItIs,
        },
        sampler,
    }
}

fn numbers(n: u32) -> Vec<u8> {
    (0..n).flat_map(|i| (10 + i).to_le_bytes()).collect()
}

#[test]
fn indices_outside_read_zeros() {
    let read = "cvt.rzi.s32.f32 %r3, %f1; tex.1d.v4.s32.s32 {%r5, %r6, %r7, %r8}, [%rd1, {%r3}];";
    let at = [-1f32, 0.0, 3.0, 4.0, -3e9, 3e9].map(|at| [at.to_bits(), 0, 0, 0]);
    let (report, found) = run(read, plain(TextureShape::D1, [4, 1, 1], Sampler::default()), &numbers(4), &at);
    assert!(report.is_clean());
    assert_eq!(found.iter().map(|four| four[0]).collect::<Vec<_>>(), [0, 10, 13, 0, 0, 0]);
}

/// Coordinates that are no numbers, or far away, read something, and nothing fails.
#[test]
fn coordinates_of_any_size() {
    let read = "tex.2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1, %f2}];";
    let at = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN]
        .map(|at| [at.to_bits(), at.to_bits(), 0, 0]);
    for filter in [Filter::Point, Filter::Linear] {
        for mode in [AddressMode::Clamp, AddressMode::Border, AddressMode::Wrap, AddressMode::Mirror] {
            for coordinates in [Coordinates::Texels, Coordinates::Normalized] {
                let sampler = Sampler { address_modes: [mode; 3], filter, coordinates };
                let (report, _) = run(read, plain(TextureShape::D2, [2, 2, 1], sampler), &numbers(4), &at);
                assert!(report.is_clean());
            }
        }
    }
}

#[test]
fn gathers_wrap() {
    let read = "tld4.r.2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1, %f2}];";
    let sampler = Sampler {
        address_modes: [AddressMode::Wrap; 3],
        coordinates: Coordinates::Normalized,
        ..Sampler::default()
    };
    let corner = [[0f32.to_bits(), 1f32.to_bits(), 0, 0]];
    let (report, found) = run(read, plain(TextureShape::D2, [2, 2, 1], sampler), &numbers(4), &corner);
    assert!(report.is_clean());
    // From the lower left against the clock: rows 0, 0, 1, 1 and columns 1, 0, 0, 1.
    assert_eq!(found[0], [11, 10, 12, 13]);
}

#[test]
fn a_texture_of_another_shape_is_an_error() {
    let read = "tex.2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1, %f2}];";
    let (report, _) =
        run(read, plain(TextureShape::D1, [4, 1, 1], Sampler::default()), &numbers(4), &[[0; 4]]);
    let finding = &report.findings[0];
    assert_eq!(finding.kind, FindingKind::TextureShape);
    assert_eq!(finding.message, "reads a texture that is one-dimensional as if it were two-dimensional");
    assert_eq!(finding.fix, "read it with tex1D or tex1Dfetch, or make the texture two-dimensional");
}

#[test]
fn what_is_not_there_is_named() {
    for (read, reason) in [
        ("tex.2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1, %f2}], {%r3, %r4};", "offsets and depths"),
        ("tld4.r.a2d.v4.f16x2.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%r2, %f1, %f2, %f2}];", "types of texels"),
        ("tex.2dms.v4.s32.s32 {%r5, %r6, %r7, %r8}, [%rd1, {%r2, %r3, %r4, %r4}];", "`.2dms` is not known"),
    ] {
        let (report, _) =
            run(read, plain(TextureShape::D2, [2, 2, 1], Sampler::default()), &numbers(4), &[[0; 4]]);
        let Some(LaunchError::Unsupported { reason: why, .. }) = report.error else { panic!("{read}") };
        assert!(why.contains(reason), "{why}");
    }
}
