// From sums in registers to C: alpha and beta, rounding, and the way through shared memory.
#pragma once

#include "numbers.cuh"
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

// C, and what becomes of it: alpha times the sums plus beta times what was there.
struct Result {
    Out* first;
    long long row_stride, batch_stride;
    int rows, cols;
    Acc alpha, beta;

    __device__ Out* at(int row, int col, int batch) const { return first + batch * batch_stride + row * row_stride + col; }

    // From sums to elements, not yet rounded: two neighbours.
    __device__ void finish(Acc& left, Acc& right, int row, int col, int batch) const
    {
        left = R::multiply(alpha, left);
        right = R::multiply(alpha, right);
        if (beta == 0 || row >= rows) return;
        const Out* old = at(row, col, batch);
        if (col < cols) left = R::multiply_add(beta, convert<Acc>(old[0]), left);
        if (col + 1 < cols) right = R::multiply_add(beta, convert<Acc>(old[1]), right);
    }
};

// Two neighbours of a row, and four.
struct alignas(8) Two {
    Acc left, right;
};
struct alignas(16) Four {
    Acc x[4];
};

// Parts of the sums of each product, one after another: rows of a multiple of four columns.
struct Parts {
    Acc* first;
    int rows, cols;

    __device__ int pitch() const { return (cols + 3) / 4 * 4; }

    // Two neighbours, the first in an even column.
    __device__ void write(int part, int row, int col, Acc left, Acc right) const
    {
        if (row >= rows || col >= cols) return;
        Acc* to = first + (static_cast<long long>(part) * rows + row) * pitch() + col;
        *reinterpret_cast<Two*>(to) = {left, right};
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
template <class O, int SUMS> __device__ void write_slab(const Slab<O>& slab, const Acc (&sums)[SUMS], int part, const Result& c, int row, int col, int batch)
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
            c.finish(left, right, row + y, col + x, batch);
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
