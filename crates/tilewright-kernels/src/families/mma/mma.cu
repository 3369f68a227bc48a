// mma: products by the tensor cores of any GPU since Turing, a warp at a time.
//
// A block computes a tile of C. All threads copy the operands of the next steps into a ring of stages while they multiply what is there.
#include "config.cuh"
#include "mma.cuh"
#include "ptx.cuh"
#include "result.cuh"
#include "scales.cuh"
#include "tile_order.cuh"

enum : int {
    WARP = 32,
    THREADS = WARPS_M * WARPS_N * WARP,
    // A row of a stage by terms, a copy, and what one instruction takes, in bytes.
    ROW_BYTES = 64,
    PIECE_BYTES = 16,
    STEP_BYTES = 32,
    // Terms of a stage, elements of a copy.
    TILE_K = ROW_BYTES / sizeof(T),
    PIECE = PIECE_BYTES / sizeof(T),
    // A warp's part of the tile, in products of 16 x 8.
    ROWS = TILE_M / WARPS_M / 16,
    COLS = TILE_N / WARPS_N / 8,
    // Tiles of C that share columns of B, one after another.
    BAND = 8,
};

// An operand in memory: lines of neighbours, a pitch apart. By terms, a line is a row of A or a column of B; otherwise it is a term.
struct Lines {
    const unsigned char* first;
    long long pitch;
    // Rows of A or columns of B, and terms.
    int side, terms;
};

// Starts copying so many of 16 bytes; the others become zeros. Before compute capability 8.0 it waits for the copy.
__device__ inline void copy_piece(unsigned to, const unsigned char* from, int bytes)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
#else
    unsigned words[4] = {};
    if (bytes == PIECE_BYTES) {
        const uint4 all = *reinterpret_cast<const uint4*>(from);
        words[0] = all.x, words[1] = all.y, words[2] = all.z, words[3] = all.w;
    } else {
#pragma unroll
        for (int i = 0; i < PIECE_BYTES; ++i) words[i / 4] |= (i < bytes ? from[i] : 0u) << i % 4 * 8;
    }
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
#endif
}

// A tile of an operand in shared memory: SIDE rows of A or columns of B. The 16-byte pieces of a line are exchanged, so that eight lines' pieces lie in different banks.
template <int SIDE, bool BY_TERMS> struct Tile {
    enum : int {
        LINES = BY_TERMS ? SIDE : TILE_K,
        PIECES = (BY_TERMS ? TILE_K : SIDE) / PIECE,
        BYTES = LINES * PIECES * PIECE_BYTES,
    };

    // The place of a piece of a line. Two lines by terms share 128 bytes.
    static __device__ int at(int line, int piece)
    {
        return (line * PIECES + (piece ^ (BY_TERMS ? line / 2 % 4 : line % 8))) * PIECE_BYTES;
    }

    // Starts copying the tile from this row or column and term on. What lies outside the operand is zero.
    static __device__ void copy(unsigned to, const Lines& lines, int side, int term, int last)
    {
        const int line0 = BY_TERMS ? side : term, first = BY_TERMS ? term : side;
        const int all = BY_TERMS ? lines.side : last, length = BY_TERMS ? last : lines.side;
#pragma unroll
        for (int i = 0; i < (LINES * PIECES + THREADS - 1) / THREADS; ++i) {
            const int at_piece = i * THREADS + threadIdx.x, line = at_piece / PIECES, piece = at_piece % PIECES;
            if (LINES * PIECES % THREADS != 0 && line >= LINES) break;
            const int x = first + piece * PIECE, left = line0 + line < all ? min(length - x, int(PIECE)) : 0;
            const unsigned char* from = lines.first + (line0 + line) * lines.pitch + x * static_cast<long long>(sizeof(T));
            copy_piece(to + at(line, piece), left > 0 ? from : lines.first, max(left, 0) * int(sizeof(T)));
        }
    }

    // 16 rows from `side` on (of A), or 16 columns (of B), and the terms of instruction `step`: as the instruction takes them, of B for two.
    static __device__ void load(unsigned (&x)[4], unsigned tile, int side, int step, bool is_a)
    {
        const int lane = threadIdx.x % WARP, low = lane / 8 % 2, high = lane / 16;
        // Of A the second matrix has further rows, of B further terms.
        const int across = is_a ? low : high, along = is_a ? high : low;
        if constexpr (BY_TERMS) {
            load_matrices<false>(x, tile + at(side + lane % 8 + across * 8, step * (STEP_BYTES / PIECE_BYTES) + along));
        } else {
            load_matrices<true>(x, tile + at(step * 16 + lane % 8 + along * 8, side / PIECE + across));
        }
    }
};

using TileA = Tile<TILE_M, A_BY_TERMS>;
using TileB = Tile<TILE_N, B_BY_TERMS>;
enum : int { STAGE_BYTES = TileA::BYTES + TileB::BYTES };

// Rounds f32 to tf32: the instruction would cut off.
__device__ inline void round(unsigned (&x)[4])
{
#if __CUDA_ARCH__ >= 800
    if constexpr (SAME<T, float>) {
#pragma unroll
        for (int i = 0; i < 4; ++i) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(__uint_as_float(x[i])));
    }
#endif
}

// Adds the products of a stage to a warp's sums.
__device__ __forceinline__ void multiply(Acc (&sums)[ROWS][COLS][4], unsigned stage, int row, int col)
{
#pragma unroll
    for (int step = 0; step < ROW_BYTES / STEP_BYTES; ++step) {
        unsigned a[ROWS][4], b[COLS / 2][4];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            TileA::load(a[i], stage, row + i * 16, step, true);
            round(a[i]);
        }
#pragma unroll
        for (int j = 0; j < COLS / 2; ++j) {
            TileB::load(b[j], stage + TileA::BYTES, col + j * 16, step, false);
            round(b[j]);
        }
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < COLS; ++j) multiply_add(sums[i][j], a[i], {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]}, T());
        }
    }
}

// What a thread's sums are multiplied by: the scales of its rows and of its columns.
template <bool EACH> struct Factors {
    // Every lane brings one of 32 rows.
    float own_rows[(ROWS + 1) / 2];
    ColumnScales<COLS * 8, EACH> cols;

    // In a block of terms, from a row and column of the warp on.
    __device__ __forceinline__ void load(const Scales& scales, int row, int col, int block)
    {
#pragma unroll
        for (int i = 0; i < (ROWS + 1) / 2; ++i) own_rows[i] = scales.row(row + i * WARP + threadIdx.x % WARP, block);
        cols.load(scales, col, block);
    }

    // Of the thread's rows: lane / 4 of each eight.
    __device__ __forceinline__ void of_rows(float (&rows)[ROWS][2]) const
    {
#pragma unroll
        for (int i = 0; i < ROWS * 2; ++i) rows[i / 2][i % 2] = __shfl_sync(~0u, own_rows[i / 4], i % 4 * 8 + threadIdx.x % WARP / 4);
    }
};

// Multiplies complete sums by the scales of their rows and columns.
__device__ __forceinline__ void scale_sums(Acc (&sums)[ROWS][COLS][4], const Scales& scales, int row, int col)
{
    Factors<true> factors;
    factors.load(scales, row, col, 0);
    float of_rows[ROWS][2];
    factors.of_rows(of_rows);
#pragma unroll
    for (int j = 0; j < COLS * 2; ++j) {
        const float of_col = factors.cols.of(j / 2, j % 2);
#pragma unroll
        for (int i = 0; i < ROWS * 2; ++i) sums[i / 2][j / 2][i % 2 * 2 + j % 2] *= of_rows[i / 2][i % 2] * of_col;
    }
}

// As above, of floats of 8 bits, with the sums of each stage added up as floats, times these factors where there are scales.
__device__ __forceinline__ void multiply_and_promote(Acc (&sums)[ROWS][COLS][4], unsigned stage, int row, int col, const Factors<SCALES == BY_COLUMN>& factors)
{
    enum : int { STEPS = ROW_BYTES / STEP_BYTES };
    unsigned a[STEPS][ROWS][4];
#pragma unroll
    for (int i = 0; i < STEPS * ROWS; ++i) TileA::load(a[i / ROWS][i % ROWS], stage, row + i % ROWS * 16, i / ROWS, true);
    float of_rows[ROWS][2];
    if constexpr (SCALES_PARTS) factors.of_rows(of_rows);
#pragma unroll
    for (int j = 0; j < COLS / 2; ++j) {
        unsigned b[STEPS][4];
#pragma unroll
        for (int step = 0; step < STEPS; ++step) TileB::load(b[step], stage + TileA::BYTES, col + j * 16, step, false);
        float of_cols[4];
        if constexpr (SCALES_PARTS) {
#pragma unroll
            for (int i = 0; i < 4; ++i) of_cols[i] = factors.cols.of(j * 2 + i / 2, i % 2);
        }
#pragma unroll
        for (int i = 0; i < ROWS * 2; ++i) {
            Acc part[4] = {};
#pragma unroll
            for (int step = 0; step < STEPS; ++step) multiply_add(part, a[step][i / 2], {b[step][i % 2 * 2], b[step][i % 2 * 2 + 1]}, T());
#pragma unroll
            for (int x = 0; x < 4; ++x) {
                Acc& sum = sums[i / 2][j * 2 + i % 2][x];
                if constexpr (SCALES_PARTS) {
                    sum = fmaf(of_rows[i / 2][x / 2] * of_cols[i % 2 * 2 + x % 2], part[x], sum);
                } else {
                    sum += part[x];
                }
            }
        }
    }
}

// Writes what a thread has, two neighbours at a time: of C, or of a part of the sums.
__device__ __forceinline__ void write(const Acc (&sums)[ROWS][COLS][4], const Result& c, const Parts& parts, int row, int col, int batch, int part)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < ROWS * COLS * 2; ++i) {
        const int block = i / 2, y = row + block / COLS * 16 + i % 2 * 8 + lane / 4, x = col + block % COLS * 8 + lane % 4 * 2;
        Acc left = sums[block / COLS][block % COLS][i % 2 * 2], right = sums[block / COLS][block % COLS][i % 2 * 2 + 1];
        if constexpr (SPLITS) {
            parts.write(part, y, x, left, right);
        } else if (y < c.rows && x < c.cols) {
            c.finish(left, right, y, x, batch);
            c.write(left, right, y, x, batch);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    mma(const unsigned char* A, const unsigned char* B, Out* C, Acc* sums, long long a_pitch, long long b_pitch, long long a_batch, long long b_batch, long long row_stride,
        long long batch_stride, int m, int n, int k, int parts, Acc alpha, Acc beta, const Out* bias, long long bias_row, long long bias_col,
        const float* scale_a, long long scale_a_row, long long scale_a_term, int scale_a_shift, const float* scale_b, long long scale_b_row, long long scale_b_term,
        int scale_b_shift)
{
    extern __shared__ __align__(128) unsigned char shared[];
    const unsigned stages = shared_address(shared);
    const int rows = (m + TILE_M - 1) / TILE_M, cols = (n + TILE_N - 1) / TILE_N, all_steps = (k + TILE_K - 1) / TILE_K;
    const TilePlace place = tile_at<BAND>(blockIdx.x, rows, cols);
    const int batch = place.batch / parts, of_a_part = (all_steps + parts - 1) / parts, first = place.batch % parts * of_a_part;
    const int steps = max(min(of_a_part, all_steps - first), 0), row = place.row * TILE_M, col = place.col * TILE_N;
    const Lines a = {A + batch * a_batch, a_pitch, m, k}, b = {B + batch * b_batch, b_pitch, n, k};
    let_next_kernel_start();
    wait_for_previous_kernel();
    const auto copy = [&](int step) {
        if (step < steps) {
            const unsigned to = stages + step % STAGES * STAGE_BYTES;
            TileA::copy(to, a, row, (first + step) * TILE_K, k);
            TileB::copy(to + TileA::BYTES, b, col, (first + step) * TILE_K, k);
        }
        // Steps that there are not count as well, so that the number to wait for is constant.
        commit_copies();
    };
    for (int step = 0; step < STAGES - 1; ++step) copy(step);
    const Scale of_a = {scale_a, scale_a_row, scale_a_term, scale_a_shift}, of_b = {scale_b, scale_b_row, scale_b_term, scale_b_shift};
    const Scales scales = {of_a, of_b, m, n, (k + SCALE_TERMS - 1) / SCALE_TERMS};
    Acc own[ROWS][COLS][4] = {};
    const int warp = threadIdx.x / WARP, warp_row = warp % WARPS_M * ROWS * 16, warp_col = warp / WARPS_M * COLS * 8;
    for (int step = 0; step < steps; ++step) {
        wait_for_copies<STAGES - 2>();
        // The stage is there for all, and the one before it is read by none.
        __syncthreads();
        copy(step + STAGES - 1);
        const unsigned stage = stages + step % STAGES * STAGE_BYTES;
        if constexpr (PROMOTES) {
            // Two stages are a block of terms for scales.
            Factors<SCALES == BY_COLUMN> factors;
            if constexpr (SCALES_PARTS) factors.load(scales, row + warp_row, col + warp_col, (first + step) * int(TILE_K) / int(SCALE_TERMS));
            multiply_and_promote(own, stage, warp_row, warp_col, factors);
        } else {
            multiply(own, stage, warp_row, warp_col);
        }
    }
    if constexpr (SCALES == AT_THE_END) scale_sums(own, scales, row + warp_row, col + warp_col);
    write(own, {C, row_stride, batch_stride, m, n, alpha, beta, {bias, bias_row, bias_col}}, {sums, m, n}, row + warp_row, col + warp_col, batch, place.batch);
}
