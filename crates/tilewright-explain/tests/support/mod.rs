//! A kernel whose numbers can be worked out by hand: `naive` for 64 x 64 elements in blocks of 32 x 32 threads, followed
//! by a read of a column of shared memory.
#![allow(dead_code, reason = "each test uses its part")]

use tilewright_arch::{
    ComputeCapability, KernelResources, LaunchConfig, Limits, Rate, Roofline,
    memory::{LaneAddresses, global, shared},
};
use tilewright_explain::*;

pub const SOURCE: &str = "\
__global__ void naive(const float* A, const float* B, float* C, int n)
{
    __shared__ float tile[32][32];
    const int row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
    float turned = tile[threadIdx.x][threadIdx.y]; // </script>
}
";

const N: u64 = 64;
const WARPS: u64 = 4 * 32;
const BASES: [u64; 3] = [0x1_0000, 0x2_0000, 0x3_0000];

pub fn curves() -> OccupancyCurves {
    let limits = *Limits::of(ComputeCapability::new(8, 6)).expect("a known capability");
    let kernel =
        KernelResources { registers_per_thread: 37, static_shared_memory: 4096, ..Default::default() };
    OccupancyCurves { limits, kernel, launch: LaunchConfig::threads(1024) }
}

/// The address of every lane of a warp, which is a row of threads of the block: element (row, column).
type Element = fn(lane: u64, warp: u64, k: u64) -> u64;

struct Site {
    id: usize,
    line: u32,
    instruction: &'static str,
    space: Space,
    operation: Operation,
    buffer: Option<u32>,
    turns: u64,
    element: Element,
}

const SITES: [Site; 4] = [
    Site {
        id: 0,
        line: 7,
        instruction: "ld.global.f32",
        space: Space::Global,
        operation: Operation::Load,
        buffer: Some(0),
        turns: N,
        element: |lane, _, k| lane * N + k,
    },
    Site {
        id: 1,
        line: 7,
        instruction: "ld.global.f32",
        space: Space::Global,
        operation: Operation::Load,
        buffer: Some(1),
        turns: N,
        element: |_, warp, k| k * N + warp,
    },
    Site {
        id: 2,
        line: 8,
        instruction: "st.global.f32",
        space: Space::Global,
        operation: Operation::Store,
        buffer: Some(2),
        turns: 1,
        element: |lane, warp, _| lane * N + warp,
    },
    Site {
        id: 3,
        line: 9,
        instruction: "ld.shared.f32",
        space: Space::Shared,
        operation: Operation::Load,
        buffer: None,
        turns: 1,
        element: |lane, warp, _| lane * 32 + warp,
    },
];

impl Site {
    fn start(&self) -> u64 {
        self.buffer.map_or(0, |index| BASES[index as usize])
    }

    fn addresses(&self, warp: u64, k: u64) -> LaneAddresses {
        let start = self.start();
        std::array::from_fn(|lane| start + 4 * (self.element)(lane as u64, warp, k))
    }

    /// The sums over all blocks, which access alike.
    fn traffic(&self) -> Traffic {
        let (mut sectors, mut banks) = (SectorTraffic::default(), BankTraffic::default());
        for k in 0..self.turns {
            let addresses = self.addresses(0, k);
            let wavefronts = shared::load(&addresses, u32::MAX, 4);
            sectors += SectorTraffic {
                requests: WARPS,
                sectors: WARPS * u64::from(global::sectors(&addresses, u32::MAX, 4)),
                ideal_sectors: WARPS * 4,
                lines: WARPS * u64::from(global::lines(&addresses, u32::MAX, 4)),
                l1_wavefronts: WARPS * u64::from(global::wavefronts(&addresses, u32::MAX, 4)),
                bytes_requested: WARPS * 128,
            };
            banks += BankTraffic {
                requests: WARPS,
                wavefronts: WARPS * u64::from(wavefronts.wavefronts),
                ideal_wavefronts: WARPS * u64::from(wavefronts.ideal),
                bytes_requested: WARPS * 128,
                optimised: OptimisedTraffic {
                    requests: WARPS,
                    wavefronts: WARPS * u64::from(wavefronts.wavefronts),
                },
            };
        }
        if self.space == Space::Shared { Traffic::Banks(banks) } else { Traffic::Sectors(sectors) }
    }

    fn access(&self) -> Access {
        Access {
            id: self.id,
            ptx_line: 40 + self.line,
            instruction: self.instruction.into(),
            space: self.space,
            operation: self.operation,
            bytes_per_lane: 4,
            buffer: Some(["A", "B", "C", "tile"][self.id].into()),
            executions: WARPS * self.turns,
            lanes_per_address: None,
            lane_stride: Some([256, 4, 256, 128][self.id]),
            traffic: self.traffic(),
        }
    }
}

fn line(number: u32) -> Line {
    let accesses: Vec<Access> = SITES.iter().filter(|site| site.line == number).map(Site::access).collect();
    let executions = if number == 7 { 4 * N * WARPS } else { 4 * WARPS };
    Line {
        file: "naive.cu".into(),
        line: number,
        text: SOURCE.lines().nth(number as usize - 1).unwrap_or_default().trim().into(),
        warp_instructions: executions,
        thread_instructions: 32 * executions,
        flops: if number == 7 { 2 * N * N * N } else { 0 },
        barriers: 0,
        accesses,
    }
}

pub fn explanation() -> Explanation {
    let lines: Vec<Line> = [4, 7, 8, 9].map(line).into();
    let sum = |operation| {
        lines.iter().filter_map(|l| l.sectors(Space::Global, operation)).reduce(|mut a, b| {
            a += b;
            a
        })
    };
    let (loads, stores) =
        (sum(Operation::Load).unwrap_or_default(), sum(Operation::Store).unwrap_or_default());
    let warp_instructions = lines.iter().map(|l| l.warp_instructions).sum();
    let flops = 2 * N * N * N;
    let (requested, sectors) =
        (loads.bytes_requested + stores.bytes_requested, loads.sectors + stores.sectors);
    let arithmetic_intensity = Intensity::new(flops, requested, 32 * sectors, 3 * 4 * N * N);
    let roofline = Roofline { peak: 38.7e12, bandwidth: 768e9 };
    let OccupancyCurves { limits, kernel, launch } = curves();
    let mut explanation = Explanation {
        kernel: "naive".into(),
        entry: "naive".into(),
        name: "naive".into(),
        gpu: Some("RTX A6000".into()),
        level: Level::Ptx,
        grid: [2, 2, 1],
        block: [32, 32, 1],
        cluster: None,
        dynamic_shared_memory: 0,
        totals: Totals {
            warp_instructions,
            thread_instructions: 32 * warp_instructions,
            global_load: loads,
            global_store: stores,
            shared_load: lines[3].banks(Operation::Load).unwrap_or_default(),
            flops,
            instruction_mix: [
                ("ld.global.f32", 2 * N * WARPS),
                ("fma.rn.f32", N * WARPS),
                ("st.global.f32", WARPS),
            ]
            .map(|(name, n)| (name.to_owned(), n))
            .into(),
            arithmetic_intensity,
            roofline: RooflinePosition::new(Rate::F32, &roofline, &arithmetic_intensity),
            occupancy: OccupancySummary::of(&limits, &kernel, &launch),
            ..Default::default()
        },
        bound: None,
        lines,
        unfinished: None,
        results: Default::default(),
        compiler_warnings: Vec::new(),
        findings: vec![race()],
        notes: vec!["B is transposed by a launch that is not counted".into()],
        printed: String::new(),
    };
    explanation.findings.extend(advise(&explanation));
    explanation
}

fn race() -> Finding {
    let participant = |what: &str, line, thread| Participant {
        what: what.into(),
        location: Some(Location {
            file: Some("naive.cu".into()),
            line: Some(line),
            ptx_line: Some(40 + line),
        }),
        block: Some([1, 0, 0]),
        threads: vec![thread],
        element: Some("tile[3][0]".into()),
        iteration: None,
        further_ptx_lines: Vec::new(),
    };
    Finding {
        severity: Severity::Error,
        kind: FindingKind::SharedRace,
        message: "two threads access the same word of shared memory without a barrier between them".into(),
        participants: vec![participant("store", 8, [3, 0, 0]), participant("load", 9, [0, 3, 0])],
        count: 992,
        copies: 1,
        cost: None,
        cost_cycles: None,
        fix: "put __syncthreads() between the two".into(),
        remedy: Some(Remedy { insert: "__syncthreads()", place: RemedyPlace::Between, after_line: Some(8) }),
    }
}

pub fn recording() -> Recording {
    let mut recorder = Recorder::default();
    for warp in 0..32 {
        for k in 0..N {
            for site in
                SITES.iter().filter(|site| k < site.turns && site.turns == N || site.turns == 1 && k == N - 1)
            {
                recorder.record(&Sample {
                    access: site.id,
                    warp: warp as u32,
                    space: site.space,
                    operation: site.operation,
                    active: u32::MAX,
                    addresses: &site.addresses(warp, k),
                    bytes: 4,
                    buffer: site.buffer,
                    start: site.start(),
                    epoch: 0,
                });
            }
        }
    }
    let buffer = |name: &str| Buffer {
        name: name.into(),
        dtype: "f32".into(),
        element_bytes: 4,
        rows: N,
        columns: N,
        row_stride: N,
        column_stride: 1,
    };
    Recording {
        instructions: SITES
            .iter()
            .map(|site| PtxInstruction {
                ptx_line: 40 + site.line,
                file: "naive.cu".into(),
                line: site.line,
                text: format!("{} %f1, [%rd1];", site.instruction),
                executions: WARPS * site.turns,
            })
            .collect(),
        sources: vec![SourceText { name: "naive.cu".into(), text: SOURCE.into() }],
        buffers: ["A", "B", "C"].map(buffer).into(),
        block: [0, 0, 0],
        timeline: Default::default(),
        patterns: recorder.finish(),
    }
}
