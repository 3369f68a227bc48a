// dmma: products of f64 by tensor cores.
//
// A block computes a tile of C, and several blocks share a multiprocessor. One thread copies the operands into a ring of stages. A warp multiplies WARP_M x WARP_N of the
// tile, while its next operands are on their way from shared memory, and no barrier of the block holds it: it says when it needs a stage no more. Tiles from number
// `whole` on are computed in parts of `k_split` terms, that split_k_reduce adds up.
#include "config.cuh"
#include "dmma.cuh"
#include "finish.cuh"
#include "order.cuh"
#include "pipeline.cuh"
#include "ptx.cuh"
#include "wgmma.cuh"

enum : int {
    WARPS_N = TILE_N / WARP_N,
    WARPS = TILE_M / WARP_M * WARPS_N,
    ROWS = WARP_M / EIGHT,  // eights of rows, and of columns, of a warp
    COLS = WARP_N / EIGHT,
    STEPS_OF_EIGHT = ROWS / 2,                // each multiplies 16 rows, at eight terms
    STEPS = TILE_K / EIGHT * STEPS_OF_EIGHT,  // of a stage
    AHEAD = 2,                                // steps from reading operands to using them
};
using TileA = OperandTile<TILE_M, TILE_K, A_BY_TERMS>;
using TileB = OperandTile<TILE_N, TILE_K, B_BY_TERMS>;
enum : int { STAGE = TileA::BYTES + TileB::BYTES };
static_assert(TILE_K == 2 * EIGHT, "two sets of columns take turns");
static_assert(STEPS % (2 * AHEAD) == 0, "registers take turns in each stage alike");

// What a block computes: a tile of C, or a part of its terms.
struct Unit {
    int row, col, batch, first, terms, part;  // part: -1 for a whole tile

    __device__ Unit(int m, int n, int k, int whole, int parts, int k_split)
    {
        const int tiles_m = (m + TILE_M - 1) / TILE_M, tiles_n = (n + TILE_N - 1) / TILE_N, split = tiles_m * tiles_n - whole;
        const int units = whole + split * parts, unit = blockIdx.x % units;
        batch = blockIdx.x / units;
        part = unit < whole ? -1 : batch * (units - whole) + unit - whole;
        const int which = unit < whole ? 0 : (unit - whole) / split;
        const Position at = position(unit - which * split, tiles_m, tiles_n);
        row = at.m * TILE_M;
        col = at.n * TILE_N;
        first = which * k_split;
        terms = part < 0 ? k : min(k_split, k - first);
    }
};

// Fills stages one after another, by one thread.
struct Copies {
    const TensorMap &a, &b;
    Ring<STAGES> ring;
    unsigned stages;
    int row, col, term, left, batch_a, batch_b;  // left: terms from `term` on
    Place<STAGES> at;

    __device__ void fill_next()
    {
        if (left <= 0) return;
        const unsigned to = stages + at.stage * STAGE, full = ring.full(at.stage);
        ring.wait_until_empty(at);
        expect_bytes(full, STAGE);
        TileA::copy(to, a, full, row, term, batch_a);
        TileB::copy(to + TileA::BYTES, b, full, col, term, batch_b);
        term += TILE_K;
        left -= TILE_K;
        at.advance();
    }
};

// Writes two neighbours of C, or the first of them where the second lies outside.
__device__ inline void write(double* to, double left, double right, bool has_right, double alpha, double beta, const Bias& bias, int row, int col)
{
    left *= alpha;
    right *= alpha;
    if (beta != 0) {
        left += beta * to[0];
        if (has_right) right += beta * to[1];
    }
    if constexpr (BIAS || ACTIVATION) {
        left = bias.finish(left, row, col);
        if (has_right) right = bias.finish(right, row, col + 1);
    }
    if constexpr (STORE_PAIRS) {
        *reinterpret_cast<double2*>(to) = make_double2(left, right);
    } else {
        to[0] = left;
        if (has_right) to[1] = right;
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * WARP, BLOCKS)
    dmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, double* C, double* parts, long long row_stride, long long batch_stride, int m, int n,
         int k, int whole, int splits, int k_split, int batched_a, int batched_b, double alpha, double beta, const double* bias, long long bias_row,
         long long bias_col)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned stages = (shared_address(shared) + 1023) / 1024 * 1024;
    const Ring<STAGES> ring = {stages + STAGES * STAGE};
    const Unit unit(m, n, k, whole, splits, k_split);
    if (threadIdx.x == 0) ring.init(1, WARPS);
    __syncthreads();
    let_next_kernel_start();
    wait_for_previous_kernel();
    Copies copies = {a, b, ring, stages, unit.row, unit.col, unit.first, unit.terms, unit.batch * batched_a, unit.batch * batched_b};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) copies.fill_next();
    }
    __syncwarp();

    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, row = warp / WARPS_N * WARP_M, col = warp % WARPS_N * WARP_N;
    const TileA::Reader reader_a(stages, row);
    const TileB::Reader reader_b(stages + TileA::BYTES, col);
    Place<STAGES> at;
    // Operands are read AHEAD steps before they are used, into registers that were used as many steps before.
    double columns[2][COLS][2], rows[2 * AHEAD][4];
    auto read = [&](int step) {
        const int eight = step / STEPS_OF_EIGHT, i = step % STEPS_OF_EIGHT, stage = at.stage * STAGE;
#pragma unroll
        for (int j = 0; j < 4; ++j) rows[step % (2 * AHEAD)][j] = reader_a.read(stage, 2 * i + j % 2, 2 * eight + j / 2);
        if (i > 0) return;
#pragma unroll
        for (int j = 0; j < 2 * COLS; ++j) columns[eight][j / 2][j % 2] = reader_b.read(stage, j / 2, 2 * eight + j % 2);
    };
    ring.wait_until_full(at);
#pragma unroll
    for (int step = 0; step < AHEAD; ++step) read(step);
    double sums[ROWS / 2][COLS][4] = {};
    for (int left = unit.terms; left > 0; left -= TILE_K) {
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            if (step == STEPS - AHEAD) {
                // All lanes have the operands of this stage in registers.
                __syncwarp();
                ring.release<1>(at.stage);
                at.advance();
                if (left > TILE_K) ring.wait_until_full(at);
            }
            if (step < STEPS - AHEAD || left > TILE_K) read((step + AHEAD) % STEPS);
            // The other warps have had most of a stage's time to release the last one.
            if (step == STEPS - AHEAD - 1 && left < unit.terms && threadIdx.x == 0) copies.fill_next();
#pragma unroll
            for (int j = 0; j < COLS; ++j) multiply_add(sums[step % STEPS_OF_EIGHT][j], rows[step % (2 * AHEAD)], columns[step / STEPS_OF_EIGHT][j]);
        }
    }

    const int y = row + among_eight(lane / 4), x = col + among_eight(lane % 4 * 2);
    double* to = C + unit.batch * batch_stride + (unit.row + y) * row_stride + unit.col + x;
    double* to_part = parts + static_cast<long long>(unit.part) * (TILE_M * TILE_N) + y * TILE_N + x;
    const int rows_left = m - unit.row - y, cols_left = n - unit.col - x;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLS; ++j) {
            const double left = sums[i / 2][j][i % 2 * 2], right = sums[i / 2][j][i % 2 * 2 + 1];
            const int down = i * EIGHT, across = j * EIGHT;
            if (unit.part >= 0) *reinterpret_cast<double2*>(to_part + down * TILE_N + across) = make_double2(left, right);
            else if (down < rows_left && across < cols_left)
                write(to + down * row_stride + across, left, right, across + 1 < cols_left, alpha, beta, {bias, bias_row, bias_col}, unit.row + y + down,
                      unit.col + x + across);
        }
}
