// From sums in registers to C by way of shared memory.
#pragma once

#include "result.cuh"
#include "wgmma.cuh"

// Two sums, rounded, the first in the lower half.
template <class T> __device__ unsigned rounded(float low, float high);
template <> __device__ inline unsigned rounded<Half>(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
template <> __device__ inline unsigned rounded<Bfloat16>(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// The bias of a warp's part of a tile, loaded before it is needed. A thread has that of its rows, or of one in 32 columns, which it gives to others.
struct OwnBias {
    Out rows[WAVES][2], cols[(TILE_N + WARP - 1) / WARP];
    bool is_by_rows;

    // From a row and column of C on.
    __device__ __forceinline__ void load(const Result& c, int row, int col)
    {
        const int lane = threadIdx.x % WARP;
        is_by_rows = c.bias.row != 0;
        if (is_by_rows) {
#pragma unroll
            for (int i = 0; i < WAVES * 2; ++i) rows[i / 2][i % 2] = c.bias.at(min(row + i / 2 * 64 + i % 2 * 8 + lane / 4, c.rows - 1), 0);
        } else {
#pragma unroll
            for (int i = 0; i < (TILE_N + WARP - 1) / WARP; ++i) cols[i] = c.bias.at(0, min(col + i * WARP + lane, c.cols - 1));
        }
    }

    // What becomes of a sum in one of two rows of a wave, and in one of the thread's two columns of an eight, not yet rounded. By all threads of the warp.
    __device__ __forceinline__ Acc finish(Acc sum, int wave, int which_row, int eight, int which) const
    {
        if constexpr (BIAS) {
            const Acc of_row = convert<Acc>(rows[wave][which_row]);
            const Acc of_col = __shfl_sync(~0u, convert<Acc>(cols[eight / 4]), eight % 4 * 8 + threadIdx.x % 4 * 2 + which);
            sum += is_by_rows ? of_row : of_col;
        }
        return activated(sum);
    }
};

// What a warp writes at a time: 16 rows of 128 bytes, in shared memory as TMA reads it with that swizzle.
template <class O> struct Slab {
    enum : int { ROWS = 16, ROW = 128, COLS = ROW / sizeof(O), BYTES = ROWS * ROW, BUFFERS = 2 };
    unsigned address;

    // The place of 16 bytes of a row.
    __device__ unsigned at(int row, int piece) const { return address + row * ROW + (piece ^ row % 8) * 16; }
};

// The sums of a thread in a slab's columns of a tile, `part` slabs from its left. Thread `lane` has rows lane / 4 and 8 more, and columns 2 (lane % 4) and the next of
// each eight: sums 4 i to 4 i + 3 are those of eight i.
template <class O, int SUMS> __device__ void write_slab(const Slab<O>& slab, const Acc (&sums)[SUMS], int part, const Result& c, const OwnBias& bias, int wave, int row, int col, int batch)
{
    const int lane = threadIdx.x % WARP, pair = lane % 4 * 2;
    constexpr int eights = Slab<O>::COLS / 8;
    // Two eights at a time, each of two rows.
#pragma unroll
    for (int eight = 0; eight < eights && part * eights + eight < SUMS / 4; eight += 2) {
        unsigned words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int at = 4 * (part * eights + eight) + 2 * i, y = lane / 4 + i % 2 * 8, x = (eight + i / 2) * 8 + pair;
            Acc left = sums[at], right = sums[at + 1];
            c.join(left, right, row + y, col + x, batch);
            left = bias.finish(left, wave, i % 2, part * eights + eight + i / 2, 0);
            right = bias.finish(right, wave, i % 2, part * eights + eight + i / 2, 1);
            if constexpr (sizeof(O) == 2) {
                words[i] = rounded<O>(left, right);
            } else {
                store_shared(slab.at(y, x / 4) + x % 4 * 4, left, right);
            }
        }
        if constexpr (sizeof(O) == 2) store_matrices(slab.at(lane % 16, eight + lane / 16), words);
    }
}

// An element of 16 or 32 bits of shared memory.
template <class O> __device__ O load_shared(unsigned from)
{
    if constexpr (sizeof(O) == 2) {
        O x;
        asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x.bits) : "r"(from) : "memory");
        return x;
    } else {
        int x;
        asm volatile("ld.shared.s32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
        return reinterpret_cast<const O&>(x);
    }
}

// Copies a slab's first `width` columns to C row by row, where TMA cannot write them.
template <class O> __device__ void copy_slab(const Slab<O>& slab, int width, const Result& c, int row, int col, int batch)
{
    constexpr int piece = 16 / sizeof(O);
    for (int y = 0; y < Slab<O>::ROWS && row + y < c.rows; ++y) {
        O* to = c.at(row + y, col, batch);
#pragma unroll
        for (int x = threadIdx.x % WARP; x < Slab<O>::COLS; x += WARP) {
            const O element = load_shared<O>(slab.at(y, x / piece) + x % piece * sizeof(O));
            if (x < width && col + x < c.cols) to[x] = element;
        }
    }
}
