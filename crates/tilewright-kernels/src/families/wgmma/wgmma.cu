// wgmma: products by the tensor cores of Hopper.
//
// Blocks stay and take one tile of C after another. One warp copies the operands of all tiles into a ring of stages; warp groups multiply what is there, and
// write C while the next tile is being copied. Together they compute one tile (cooperative), or each computes its own while the other writes (ping-pong). Blocks of
// a cluster compute tiles of the same columns, and copy their B once for all.
#include "config.cuh"
#include "descriptor.cuh"
#include "epilogue.cuh"
#include "pipeline.cuh"
#include "ptx.cuh"
#include "scales.cuh"
#include "tile_order.cuh"
#include "wgmma.cuh"

// Rows of A that a warp group multiplies by one instruction, terms of a stage, and instructions for them.
enum : int { GROUP_M = 64, TILE_K = ROW_BYTES / sizeof(T), STEPS = ROW_BYTES / STEP_BYTES };
enum : int {
    THREADS = (CONSUMERS + 1) * WARP_GROUP,
    // Rows of a warp group, and how many groups release a stage.
    OWN_M = WAVES * GROUP_M,
    RELEASERS = PING_PONG ? 1 : CONSUMERS,
    TILE_M = OWN_M * RELEASERS,
    SLABS = (TILE_N + Slab<Out>::COLS - 1) / Slab<Out>::COLS,
};
using TileA = OperandTile<TILE_M, A_BY_TERMS>;
using TileB = OperandTile<TILE_N, B_BY_TERMS>;
using Sums = Acc[WAVES][TILE_N / 2];
enum : int {
    STAGE_BYTES = TileA::BYTES + TileB::BYTES,
    RING_BYTES = STAGES * STAGE_BYTES,
    SLAB_BYTES = CONSUMERS * 4 * Slab<Out>::BUFFERS * Slab<Out>::BYTES,
    // Scales of a stage: of each row, then of each column, or of 64 that share one.
    COLUMN_SCALES = SCALES == BY_COLUMN ? TILE_N : (TILE_N + 63) / 64,
    SCALE_BYTES = SCALES_PARTS ? (TILE_M + COLUMN_SCALES + 3) / 4 * 16 : 0,
    // All registers of a multiprocessor but those of the copying group.
    COPY_REGISTERS = 24 + (CONSUMERS == 2) * 16,
    PRODUCT_REGISTERS = CONSUMERS == 1 ? 240 : CONSUMERS == 2 ? 232 : 160,
};

// What a launch is about.
struct Product {
    // Clusters along C, steps of a tile, and all tiles of all products and parts.
    int rows, cols, steps, count, parts, batched_a, batched_b;
    // Rows of a box of A, which are fewer than a tile's where A has fewer.
    int box_rows;

    // The tile of this block in the cluster with this index. Parts of a tile's sums follow each other as products of a batch do.
    __device__ TilePlace place(int index) const
    {
        TilePlace at = tile_at<BAND / CLUSTER>(index, rows, cols);
        at.row = at.row * CLUSTER + (CLUSTER > 1 ? rank_in_cluster() : 0);
        return at;
    }
};

// Rows of A that no box brings are zeros.
__device__ void clear_missing_rows(unsigned stages, int box_rows)
{
    if (box_rows == TILE_M) return;
    for (int stage = 0; stage < STAGES; ++stage) {
        for (int at = box_rows * ROW_BYTES + threadIdx.x * 16; at < TileA::BYTES; at += THREADS * 16) clear_shared(stages + stage * STAGE_BYTES + at);
    }
    show_to_copies();
}

// Copies the operands of all tiles of this cluster, by one thread.
__device__ void copy_operands(const TensorMap& a, const TensorMap& b, Ring<STAGES> ring, unsigned stages, const Product& product)
{
    const unsigned rank = CLUSTER > 1 ? rank_in_cluster() : 0;
    const int stage_bytes = (A_BY_TERMS ? product.box_rows * ROW_BYTES : TileA::BYTES) + TileB::BYTES;
    Place<STAGES> at;
    for (int tile = blockIdx.x / CLUSTER; tile < product.count; tile += gridDim.x / CLUSTER) {
        const TilePlace place = product.place(tile);
        const int row = place.row * TILE_M, col = place.col * TILE_N;
        const int batch = place.batch / product.parts, first = place.batch % product.parts * product.steps;
        const int batch_a = batch * product.batched_a, batch_b = batch * product.batched_b;
        // Beyond the last term there are zeros.
        for (int step = 0; step < product.steps; ++step, at.advance()) {
            const int term = (first + step) * TILE_K;
            const unsigned to_a = stages + at.stage * STAGE_BYTES, to_b = to_a + TileA::BYTES, full = ring.full(at.stage);
            ring.wait_until_empty(at);
            expect_bytes(full, stage_bytes);
            if constexpr (A_BY_TERMS) {
                load_box(to_a, a, full, term, row, batch_a);
            } else {
#pragma unroll
                for (int box = 0; box < TileA::BOXES; ++box) {
                    load_box(to_a + box * TileA::BOX_BYTES, a, full, row + box * TileA::ACROSS, term, batch_a);
                }
            }
            // Each block of a cluster copies its part of B for all: of columns, or of terms.
            if constexpr (B_BY_TERMS) {
                constexpr int part = TILE_N / CLUSTER;
                const unsigned to = to_b + rank * part * ROW_BYTES;
                if constexpr (CLUSTER == 1) {
                    load_box(to, b, full, term, col, batch_b);
                } else {
                    load_box_for((1 << CLUSTER) - 1, to, b, full, term, col + rank * part, batch_b);
                }
            } else {
                constexpr int part = TILE_K / CLUSTER;
#pragma unroll
                for (int box = 0; box < TileB::BOXES; ++box) {
                    const unsigned to = to_b + box * TileB::BOX_BYTES + rank * part * ROW_BYTES;
                    if constexpr (CLUSTER == 1) {
                        load_box(to, b, full, col + box * TileB::ACROSS, term, batch_b);
                    } else {
                        load_box_for((1 << CLUSTER) - 1, to, b, full, col + box * TileB::ACROSS, term + rank * part, batch_b);
                    }
                }
            }
        }
    }
}

// Copies the N scales of A or B of all tiles of this block, by a warp: behind the operands of a stage, so that they are there when these are. `index` tells the first row, or column, of a tile.
template <int N, int SHARING, class F> __device__ void copy_scales(const Scale& scale, int last, int blocks, Ring<STAGES> ring, unsigned to, const Product& product, const F& index)
{
    Place<STAGES> at;
    for (int tile = blockIdx.x / CLUSTER; tile < product.count; tile += gridDim.x / CLUSTER) {
        const TilePlace place = product.place(tile);
        const int first = place.batch % product.parts * product.steps;
        ScaleCopies<N, SHARING> copies(scale, index(place), last, first);
#pragma unroll 1
        for (int step = 0; step < product.steps; ++step, at.advance()) {
            ring.wait_until_empty(at);
            copies.copy(to + at.stage * SCALE_BYTES, first + step < blocks);
            arrive_with_copies(ring.full(at.stage));
        }
    }
}

// Starts the products of the stage at `a`: they are added to sums, or begin them anew.
__device__ __forceinline__ void start_products(Sums& sums, unsigned a, int first, bool adds)
{
    const unsigned b = a + TileA::BYTES;
    begin_products();
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
        const unsigned long long columns = TileB::descriptor(b + TileB::offset(0, k));
#pragma unroll
        for (int wave = 0; wave < WAVES; ++wave) {
            multiply_add(sums[wave], TileA::descriptor(a + TileA::offset(first + wave, k)), columns, adds || k > 0);
        }
    }
    commit_products();
}

// The sums of one tile, by a warp group: WAVES times 64 rows, beginning with row 64 `first` of the tile.
__device__ __forceinline__ void multiply(Sums& sums, Ring<STAGES> ring, Place<STAGES>& at, unsigned stages, int steps, int first)
{
    int before = 0;
    for (int step = 0; step < steps; ++step) {
        ring.wait_until_full(at);
        start_products(sums, stages + at.stage * STAGE_BYTES, first, step > 0);
        // The products before these are done, and the stage that they read is free.
        wait_for_products<1>();
        if (step > 0) ring.release<CLUSTER>(before);
        before = at.stage;
        at.advance();
    }
    wait_for_products<0>();
    ring.release<CLUSTER>(before);
}

// Keeps the compiler from reading a sum before the products that it waits for.
__device__ __forceinline__ void hold(float& sum) { asm volatile("" : "+f"(sum)); }
__device__ __forceinline__ void hold(int& sum) { asm volatile("" : "+r"(sum)); }

// What a thread's sums are multiplied by: a scale for each of its rows and of its columns.
struct RowFactors {
    float of[WAVES][2];

    // Calls with each wave, sum of it, and factor, where `of_col` has the scale of one of two columns of an eight.
    template <class C, class F> __device__ __forceinline__ void each(const C& of_col, const F& f) const
    {
#pragma unroll
        for (int i = 0; i < TILE_N / 4; ++i) {
            const float col = of_col(i / 2, i % 2);
#pragma unroll
            for (int j = 0; j < WAVES * 2; ++j) f(j / 2, i / 2 * 4 + j % 2 * 2 + i % 2, of[j / 2][j % 2] * col);
        }
    }
};

// Those of complete sums, as they lie in memory. Nothing waits for what is loaded until it is used.
struct Factors {
    RowFactors rows;
    ColumnScales<TILE_N, true> cols;

    // From a row and column of the warp on.
    __device__ __forceinline__ void load(const Scales& scales, int row, int col)
    {
#pragma unroll
        for (int i = 0; i < WAVES * 2; ++i) rows.of[i / 2][i % 2] = scales.row(row + i / 2 * GROUP_M + i % 2 * 8 + threadIdx.x % WARP / 4, 0);
        cols.load(scales, col, 0);
    }
};

// Multiplies complete sums by the scales of their rows and columns.
__device__ __forceinline__ void scale_sums(Sums& sums, const Factors& factors)
{
    factors.rows.each([&](int eight, int which) { return factors.cols.of(eight, which); }, [&](int wave, int sum, float factor) {
        hold(sums[wave][sum]);
        sums[wave][sum] *= factor;
    });
}

// Adds the sums of a stage to those before, times the scales of the stage, which are in shared memory: those of the warp's rows at `rows`, and of all columns.
__device__ __forceinline__ void add_scaled(Sums& sums, Sums& part, unsigned rows, unsigned cols)
{
    const int lane = threadIdx.x % WARP;
    RowFactors of_rows;
#pragma unroll
    for (int i = 0; i < WAVES * 2; ++i) of_rows.of[i / 2][i % 2] = shared_float(rows + (i / 2 * GROUP_M + i % 2 * 8 + lane / 4) * 4);
    float blocks[(TILE_N + 63) / 64];
#pragma unroll
    for (int i = 0; i < (TILE_N + 63) / 64 && SCALES != BY_COLUMN; ++i) blocks[i] = shared_float(cols + i * 4);
    const auto of_col = [&](int eight, int which) {
        return SCALES == BY_COLUMN ? shared_float(cols + (eight * 8 + lane % 4 * 2 + which) * 4) : blocks[eight / 8];
    };
    of_rows.each(of_col, [&](int wave, int sum, float factor) {
        hold(part[wave][sum]);
        sums[wave][sum] = fmaf(factor, part[wave][sum], sums[wave][sum]);
    });
}

// As `multiply`, with the sums of each stage added up as floats: of products of 8-bit floats the tensor cores keep 13 digits after the point. A stage is a block of terms for
// scales: `scales` are those of the first stage, and `row` is the warp's first one in the tile.
__device__ __forceinline__ void multiply_and_promote(Sums& sums, Ring<STAGES> ring, Place<STAGES>& at, unsigned stages, int steps, int first, unsigned scales, int row)
{
    static_assert(!SCALES_PARTS || int(TILE_K) == int(SCALE_TERMS), "a stage has one scale");
#pragma unroll
    for (int i = 0; i < WAVES * TILE_N / 2; ++i) sums[i / (TILE_N / 2)][i % (TILE_N / 2)] = 0;
    for (int step = 0; step < steps; ++step) {
        Sums part;
        ring.wait_until_full(at);
        start_products(part, stages + at.stage * STAGE_BYTES, first, false);
        wait_for_products<0>();
        if constexpr (SCALES_PARTS) {
            const unsigned of_stage = scales + at.stage * SCALE_BYTES;
            add_scaled(sums, part, of_stage + row * 4, of_stage + TILE_M * 4);
            ring.release<CLUSTER>(at.stage);
        } else {
            ring.release<CLUSTER>(at.stage);
#pragma unroll
            for (int i = 0; i < WAVES * TILE_N / 2; ++i) {
                Acc& one = part[i / (TILE_N / 2)][i % (TILE_N / 2)];
                hold(one);
                sums[i / (TILE_N / 2)][i % (TILE_N / 2)] += one;
            }
        }
        at.advance();
    }
}

// Writes what a warp has of a tile: 16 rows of each wave, 128 bytes at a time.
__device__ __forceinline__ void write(const Sums& sums, const TensorMap& c, const Result& result, const OwnBias& bias, unsigned slabs, int row, int col, int batch)
{
#pragma unroll
    for (int wave = 0; wave < WAVES; ++wave) {
#pragma unroll
        for (int part = 0; part < SLABS; ++part) {
            const int y = row + wave * GROUP_M, x = col + part * Slab<Out>::COLS;
            const int turn = wave * SLABS + part;
            const Slab<Out> slab = {slabs + turn % Slab<Out>::BUFFERS * Slab<Out>::BYTES};
            // A box would write columns of the next tile.
            const int width = min(int(Slab<Out>::COLS), TILE_N - part * Slab<Out>::COLS);
            const bool is_box = STORES_BOXES && width == Slab<Out>::COLS;
            if constexpr (STORES_BOXES) {
                // The store that last read this slab is done. At the start all are, whichever they read, and behind a slab that was no box.
                const bool all = turn == 0 || (part == 0 && TILE_N % Slab<Out>::COLS != 0);
                if (is_elected()) all ? wait_for_stores<0>() : wait_for_stores<Slab<Out>::BUFFERS - 1>();
            }
            __syncwarp();
            write_slab(slab, sums[wave], part, result, bias, wave, y, x, batch);
            if (is_box) {
                show_to_copies();
                __syncwarp();
                if (is_elected()) store_box(c, slab.address, x, y, batch);
            } else {
                __syncwarp();
                copy_slab(slab, width, result, y, x, batch);
            }
        }
    }
}

// Writes what a thread has of a part of the sums, for another kernel to join.
__device__ __forceinline__ void write_part(const Sums& sums, const Parts& parts, int row, int col, int part)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < WAVES * TILE_N / 4; ++i) {
        const int wave = i / (TILE_N / 4), pair = i % (TILE_N / 4);
        const int y = row + wave * GROUP_M + lane / 4 + pair % 2 * 8, x = col + pair / 2 * 8 + lane % 4 * 2;
        parts.write(part, y, x, sums[wave][2 * pair], sums[wave][2 * pair + 1]);
    }
}

// Named barriers at which the groups of a ping-pong take turns.
enum : int { TURNS = 1 };

__device__ __forceinline__ void compute(const TensorMap& c, const Result& result, const Parts& parts, const Scales& scales, Ring<STAGES> ring, unsigned stages, unsigned slabs, unsigned of_stages, const Product& product)
{
    const int group = threadIdx.x / WARP_GROUP - 1, warp = threadIdx.x % WARP_GROUP / WARP;
    slabs += (group * 4 + warp) * Slab<Out>::BUFFERS * Slab<Out>::BYTES;
    const int first = PING_PONG ? 0 : group * WAVES, all = gridDim.x / CLUSTER;
    Place<STAGES> at;
    int tile = blockIdx.x / CLUSTER;
    if constexpr (PING_PONG) {
        if (group == 1) {
            // The other group's turn comes first.
            come_to(TURNS, 2 * WARP_GROUP);
            at.skip(product.steps);
            tile += all;
        }
    }
    for (; tile < product.count; tile += all * (PING_PONG ? 2 : 1)) {
        Sums sums;
        const TilePlace place = product.place(tile);
        const int in_tile = first * GROUP_M + warp * Slab<Out>::ROWS, row = place.row * TILE_M + in_tile, col = place.col * TILE_N;
        // What the sums meet in the end is brought while these are computed.
        Factors factors;
        if constexpr (SCALES == AT_THE_END) factors.load(scales, row, col);
        OwnBias bias;
        if constexpr (BIAS && !SPLITS) bias.load(result, row, col);
        if constexpr (PING_PONG) wait_at(TURNS + group, 2 * WARP_GROUP);
        if constexpr (PROMOTES) {
            multiply_and_promote(sums, ring, at, stages, product.steps, first, of_stages, in_tile);
        } else {
            multiply(sums, ring, at, stages, product.steps, first);
        }
        if constexpr (PING_PONG) {
            at.skip(product.steps);
            if (tile + all < product.count) come_to(TURNS + 1 - group, 2 * WARP_GROUP);
        }
        if constexpr (SCALES == AT_THE_END) scale_sums(sums, factors);
        if constexpr (SPLITS) {
            write_part(sums, parts, row, col, place.batch);
        } else {
            write(sums, c, result, bias, slabs, row, col, place.batch);
        }
    }
    if constexpr (STORES_BOXES && !SPLITS) {
        if (is_elected()) wait_for_stores<0>();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c, Out* C, Acc* sums, long long row_stride,
          long long batch_stride, int m, int n, int k, int batches, int parts, int batched_a, int batched_b, int box_rows, Acc alpha, Acc beta, const Out* bias,
          long long bias_row, long long bias_col, const float* scale_a, long long scale_a_row, long long scale_a_term, int scale_a_shift, const float* scale_b,
          long long scale_b_row, long long scale_b_term, int scale_b_shift)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned stages = (shared_address(shared) + 1023) / 1024 * 1024, slabs = stages + RING_BYTES;
    const unsigned of_stages = slabs + SLAB_BYTES;
    const Ring<STAGES> ring = {of_stages + STAGES * SCALE_BYTES};
    const Scale of_a = {scale_a, scale_a_row, scale_a_term, scale_a_shift}, of_b = {scale_b, scale_b_row, scale_b_term, scale_b_shift};
    const Scales scales = {of_a, of_b, m, n, (k + SCALE_TERMS - 1) / SCALE_TERMS};
    const int rows = (m + TILE_M * CLUSTER - 1) / (TILE_M * CLUSTER), cols = (n + TILE_N - 1) / TILE_N;
    const int steps = (k + TILE_K * parts - 1) / (TILE_K * parts);
    const Product product = {rows, cols, steps, rows * cols * batches * parts, parts, batched_a, batched_b, box_rows};
    if (threadIdx.x == 0) {
        prefetch(a);
        prefetch(b);
        ring.init(1 + SCALES_PARTS * 2 * WARP, RELEASERS * 4 * CLUSTER);
    }
    if (A_BY_TERMS) clear_missing_rows(stages, box_rows);
    // What has no scales is multiplied by 1.
    if constexpr (SCALES_PARTS) {
        for (int at = threadIdx.x * 4; at < STAGES * SCALE_BYTES; at += THREADS * 4) store_shared(of_stages + at, 1.0f);
    }
    if constexpr (CLUSTER > 1) {
        meet_cluster();
    } else {
        __syncthreads();
    }
    let_next_kernel_start();
    wait_for_previous_kernel();
    if (threadIdx.x < WARP_GROUP) {
        give_registers<COPY_REGISTERS>();
        if (threadIdx.x < WARP && is_elected()) copy_operands(a, b, ring, stages, product);
        if constexpr (SCALES_PARTS) {
            if (threadIdx.x / WARP == 1) {
                copy_scales<TILE_M, 1>(of_a, m - 1, scales.blocks, ring, of_stages, product, [](const TilePlace& at) { return at.row * TILE_M; });
            } else if (threadIdx.x / WARP == 2) {
                constexpr int sharing = SCALES == BY_COLUMN ? 1 : 64;
                copy_scales<COLUMN_SCALES, sharing>(of_b, n - 1, scales.blocks, ring, of_stages + TILE_M * 4, product, [](const TilePlace& at) { return at.col * TILE_N; });
            }
        }
    } else {
        take_registers<PRODUCT_REGISTERS>();
        compute(c, {C, row_stride, batch_stride, m, n, alpha, beta, {bias, bias_row, bias_col}}, {sums, m, n}, scales, ring, stages, slabs, of_stages, product);
    }
    // No block leaves while another may still arrive at its barriers.
    if constexpr (CLUSTER > 1) meet_cluster();
}
