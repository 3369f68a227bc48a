//! Small kernels that each show one property of the hardware.
//!
//! Unified memory is not among them, because it is not a property of a kernel: the same kernel runs on managed memory,
//! and the driver moves pages between host and device when they are touched. Each first touch from the other side
//! then costs a page fault of tens of microseconds, which is why products copy explicitly. Try it with kilobytes only:
//! more managed memory than a device has free can hang it.

use crate::{
    argument::{Argument, Buffer},
    kernel::{
        Family, Kernel, Make,
        exhibit::{Exhibit, F32, INPUT, OUTPUT, Parameter, Settings, Stage},
        launch::{LocalMemory, Symbol},
    },
};

/// Elements that an exhibit works on.
const N: Parameter =
    Parameter { name: "n", default: 4096, range: (1, 1 << 24), meaning: "the number of elements" };

const fn parameter(name: &'static str, default: u32, range: (u32, u32), meaning: &'static str) -> Parameter {
    Parameter { name, default, range, meaning }
}

/// A kernel of the gallery, from its file name, texts and exhibit.
macro_rules! exhibit {
    ($name:literal, $file:literal, $summary:literal, $teaches:literal, $exhibit:expr) => {
        Kernel {
            name: $name,
            family: Family::Gallery,
            summary: $summary,
            teaches: $teaches,
            file: $file,
            source: include_str!(concat!("../../kernels/gallery/", $file)),
            variants: F32,
            make: Make::Exhibit({
                const EXHIBIT: &Exhibit = &$exhibit;
                EXHIBIT
            }),
        }
    };
}

/// Exhibits that only move elements: element `i` of the output is element `source(settings, i)` of the input.
macro_rules! moves {
    ($parameters:expr, $stage:expr, $source:expr) => {
        Exhibit {
            parameters: $parameters,
            stage: $stage,
            expected: |s, input| {
                let source: fn(&Settings, usize) -> usize = $source;
                let stage: fn(&Settings) -> Stage = $stage;
                (0..stage(s).lengths[1]).map(|i| input[source(s, i)]).collect()
            },
            local_memory: LocalMemory::Forbidden,
        }
    };
}

const TRANSPOSED: Exhibit = moves!(
    &[parameter("n", 256, (1, 16_384), "the number of rows and columns")],
    |s| {
        let n = s.get("n");
        let length = n as usize * n as usize;
        Stage { grid: [n.div_ceil(32); 2], block: [32, 32], ..Stage::linear(n, [length; 2]) }
    },
    |s, i| i % s.get("n") as usize * s.get("n") as usize + i / s.get("n") as usize
);

/// A table in constant memory that the exhibits multiply by.
fn table() -> Vec<Symbol> {
    let bytes = (0..256).flat_map(|i| factor(i).to_le_bytes()).collect();
    vec![Symbol { name: "TABLE", bytes }]
}

fn factor(i: usize) -> f32 {
    1.0 + i as f32 / 256.0
}

const fn constants(expected: fn(&Settings, &[f32]) -> Vec<f32>) -> Exhibit {
    Exhibit {
        parameters: &[N],
        stage: |s| Stage { symbols: table(), ..Stage::linear(s.get("n"), [s.get("n") as usize; 2]) },
        expected,
        local_memory: LocalMemory::Forbidden,
    }
}

/// A histogram of indices: the input is not read.
const HISTOGRAM: Exhibit = Exhibit {
    parameters: &[N, parameter("bins", 16, (1, 4096), "the number of counters")],
    stage: |s| Stage {
        arguments: vec![OUTPUT, ("n", Argument::i32(s.get("n") as i32))],
        ..Stage::linear(s.get("n"), [0, s.get("bins") as usize]).constant("BINS", s.get("bins"))
    },
    expected: |s, _| {
        let (n, bins) = (s.get("n"), s.get("bins"));
        (0..bins).map(|b| (n / bins + u32::from(b < n % bins)) as f32).collect()
    },
    local_memory: LocalMemory::Forbidden,
};

pub(crate) const KERNELS: [Kernel; 20] = [
    exhibit!(
        "copy-offset",
        "copy_offset.cu",
        "a copy from an address that is not aligned",
        "misalignment: a warp's 128 bytes touch five sectors instead of four",
        moves!(
            &[N, parameter("offset", 1, (0, 1024), "elements before the first that is read")],
            |s| {
                let (n, offset) = (s.get("n"), s.get("offset"));
                Stage::linear(n, [(n + offset) as usize, n as usize]).constant("OFFSET", offset)
            },
            |s, i| i + s.get("offset") as usize
        )
    ),
    exhibit!(
        "copy-strided",
        "copy_strided.cu",
        "a copy of every stride-th element",
        "wasted bandwidth: sectors are moved whole, whatever part of them is used",
        moves!(
            &[N, parameter("stride", 2, (1, 1024), "elements from one that is read to the next")],
            |s| {
                let (n, stride) = (s.get("n"), s.get("stride"));
                let input = (n as usize - 1) * stride as usize + 1;
                Stage::linear(n, [input, n as usize]).constant("STRIDE", stride)
            },
            |s, i| i * s.get("stride") as usize
        )
    ),
    exhibit!(
        "array-of-structs",
        "array_of_structs.cu",
        "two fields of four, from an array of structures",
        "data layout: fields that nobody asked for travel along",
        Exhibit {
            parameters: &[N],
            stage: |s| Stage::linear(s.get("n"), [4 * s.get("n") as usize, s.get("n") as usize]),
            expected: |_, input| input.chunks_exact(4).map(|p| p[0] + p[1]).collect(),
            local_memory: LocalMemory::Forbidden,
        }
    ),
    exhibit!(
        "struct-of-arrays",
        "struct_of_arrays.cu",
        "two fields of four, each in an array of its own",
        "data layout: neighbouring threads read neighbouring elements",
        Exhibit {
            parameters: &[N],
            stage: |s| Stage::linear(s.get("n"), [4 * s.get("n") as usize, s.get("n") as usize]),
            expected: |s, input| {
                let (x, y) = input.split_at(s.get("n") as usize);
                x.iter().zip(y).map(|(x, y)| x + y).collect()
            },
            local_memory: LocalMemory::Forbidden,
        }
    ),
    exhibit!(
        "pitched-rows",
        "pitched_rows.cu",
        "rows of a matrix that start a pitch apart",
        "padding: a pitch that is a multiple of the sector aligns every row",
        moves!(
            &[
                parameter("rows", 128, (1, 1 << 16), "the number of rows"),
                parameter("width", 33, (1, 1024), "the number of elements in a row"),
                parameter("pitch", 40, (1, 2048), "elements from one row to the next; at least the width"),
            ],
            |s| {
                let (rows, width) = (s.get("rows"), s.get("width"));
                let pitch = s.get("pitch").max(width);
                let lengths = [rows as usize * pitch as usize, rows as usize * width as usize];
                Stage {
                    grid: [rows.div_ceil(8), 1],
                    block: [32, 8],
                    arguments: vec![INPUT, OUTPUT, ("rows", Argument::i32(rows as i32))],
                    ..Stage::linear(rows, lengths).constant("WIDTH", width).constant("PITCH", pitch)
                }
            },
            |s, i| {
                let width = s.get("width") as usize;
                i / width * width.max(s.get("pitch") as usize) + i % width
            }
        )
    ),
    exhibit!(
        "transpose-naive",
        "transpose_naive.cu",
        "a transposition that writes along columns",
        "uncoalesced stores: 32 sectors for 32 elements",
        TRANSPOSED
    ),
    exhibit!(
        "transpose-tiled",
        "transpose_tiled.cu",
        "a transposition through shared memory",
        "coalescing both ways, at the price of a 32-way bank conflict",
        TRANSPOSED
    ),
    exhibit!(
        "transpose-padded",
        "transpose_padded.cu",
        "a transposition through shared memory with a padded pitch",
        "one word of padding per row removes the bank conflict",
        TRANSPOSED
    ),
    exhibit!(
        "shared-stride",
        "shared_stride.cu",
        "shared memory read with a stride between lanes",
        "bank conflicts: gcd(stride, 32) lanes meet in a bank",
        moves!(
            &[parameter("stride", 2, (1, 256), "words from one lane to the next")],
            |s| Stage {
                grid: [1, 1],
                block: [32, 1],
                arguments: vec![INPUT, OUTPUT],
                ..Stage::linear(32, [32 * s.get("stride") as usize, 32]).constant("STRIDE", s.get("stride"))
            },
            |s, i| i * s.get("stride") as usize
        )
    ),
    exhibit!(
        "shared-broadcast",
        "shared_broadcast.cu",
        "all lanes read the same word of shared memory",
        "broadcast: one word for all lanes costs one wavefront",
        Exhibit {
            parameters: &[],
            stage: |_| Stage { block: [32, 1], arguments: vec![INPUT, OUTPUT], ..Stage::linear(32, [32; 2]) },
            expected: |_, input| vec![input.iter().fold(0.0, |sum, x| sum + x); 32],
            local_memory: LocalMemory::Forbidden,
        }
    ),
    exhibit!(
        "constant-uniform",
        "constant_uniform.cu",
        "all lanes read the same element of constant memory",
        "what constant memory is for: one address per warp",
        constants(|_, input| { input.iter().enumerate().map(|(i, x)| x * factor(i / 256 % 256)).collect() })
    ),
    exhibit!(
        "constant-divergent",
        "constant_divergent.cu",
        "every lane reads another element of constant memory",
        "what constant memory is not for: different addresses are served one by one",
        constants(|_, input| input.iter().enumerate().map(|(i, x)| x * factor(i % 256)).collect())
    ),
    exhibit!(
        "read-only",
        "read_only.cu",
        "a sum of three neighbours through the read-only path",
        "ld.global.nc, and how to promise the compiler that data does not change",
        Exhibit {
            parameters: &[N],
            stage: |s| Stage::linear(s.get("n"), [s.get("n") as usize; 2]),
            expected: |_, input| {
                let mut sums = vec![0.0; input.len()];
                for (sum, x) in sums.iter_mut().skip(1).zip(input.windows(3)) {
                    *sum = x[0] + x[1] + x[2];
                }
                sums
            },
            local_memory: LocalMemory::Forbidden,
        }
    ),
    exhibit!(
        "texture-read",
        "texture_read.cu",
        "a sum of three neighbours through a texture",
        "texture fetches: bounds are checked by the hardware",
        Exhibit {
            parameters: &[N],
            stage: |s| {
                let n = s.get("n");
                let input = ("input", Argument::Texture(Buffer::Input));
                Stage {
                    arguments: vec![input, OUTPUT, ("n", Argument::i32(n as i32))],
                    ..Stage::linear(n, [n as usize; 2])
                }
            },
            expected: |_, input| {
                let at = |i: Option<usize>| i.and_then(|i| input.get(i)).copied().unwrap_or(0.0);
                (0..input.len()).map(|i| at(i.checked_sub(1)) + at(Some(i)) + at(Some(i + 1))).collect()
            },
            local_memory: LocalMemory::Forbidden,
        }
    ),
    exhibit!(
        "local-array",
        "local_array.cu",
        "an array of a thread's own, indexed at run time",
        "local memory: what cannot be a register is memory",
        Exhibit {
            parameters: &[N, parameter("slots", 16, (2, 64), "elements of the array")],
            stage: |s| {
                let mut stage =
                    Stage::linear(s.get("n"), [s.get("n") as usize; 2]).constant("SLOTS", s.get("slots"));
                stage.arguments.push(("shift", Argument::i32(SHIFT as i32)));
                stage
            },
            expected: |s, input| {
                let slots = s.get("slots") as usize;
                let written = |slot: usize| (slot + slots - SHIFT % slots) % slots;
                input.iter().enumerate().map(|(i, x)| x * written(i % slots) as f32).collect()
            },
            local_memory: LocalMemory::Declared,
        }
    ),
    exhibit!(
        "device-symbol",
        "device_symbol.cu",
        "a factor in a variable of the module",
        "static device symbols: memory that the host finds by name",
        Exhibit {
            parameters: &[N],
            stage: |s| Stage {
                symbols: vec![Symbol { name: "FACTOR", bytes: FACTOR.to_le_bytes().to_vec() }],
                ..Stage::linear(s.get("n"), [s.get("n") as usize; 2])
            },
            expected: |_, input| input.iter().map(|x| x * FACTOR).collect(),
            local_memory: LocalMemory::Forbidden,
        }
    ),
    exhibit!(
        "atomics-global",
        "atomics_global.cu",
        "a histogram by atomic additions to global memory",
        "contention: threads that meet in an address are served one after another",
        HISTOGRAM
    ),
    exhibit!(
        "atomics-shared",
        "atomics_shared.cu",
        "a histogram counted in shared memory first",
        "privatisation: contention within a block is cheaper than across the GPU",
        HISTOGRAM
    ),
    exhibit!(
        "warp-broadcast",
        "warp_broadcast.cu",
        "every lane gets the value of one lane",
        "shuffles: registers of other lanes can be read without memory",
        Exhibit {
            parameters: &[N, parameter("lane", 0, (0, 31), "the lane whose value is read")],
            stage: |s| Stage::linear(s.get("n"), [s.get("n") as usize; 2]).constant("LANE", s.get("lane")),
            expected: |s, input| {
                let from = |i: usize| i / 32 * 32 + s.get("lane") as usize;
                (0..input.len()).map(|i| input.get(from(i)).copied().unwrap_or(0.0)).collect()
            },
            local_memory: LocalMemory::Forbidden,
        }
    ),
    exhibit!(
        "warp-reduce",
        "warp_reduce.cu",
        "the sum over each warp by shuffles",
        "a reduction in log2(32) steps, without memory or barrier",
        Exhibit {
            parameters: &[N],
            stage: |s| Stage::linear(s.get("n"), [s.get("n") as usize, s.get("n").div_ceil(32) as usize]),
            expected: |_, input| input.chunks(32).map(butterfly).collect(),
            local_memory: LocalMemory::Forbidden,
        }
    ),
];

/// How far `local-array` turns its ring.
const SHIFT: usize = 3;
/// What `device-symbol` multiplies by.
const FACTOR: f32 = 2.5;

/// The sum of at most 32 lanes in the order of the shuffles, so that rounding agrees.
fn butterfly(lanes: &[f32]) -> f32 {
    let mut sums = [0.0; 32];
    sums[..lanes.len()].copy_from_slice(lanes);
    for bit in [16, 8, 4, 2, 1] {
        sums = core::array::from_fn(|lane| sums[lane] + sums[lane ^ bit]);
    }
    sums[0]
}
