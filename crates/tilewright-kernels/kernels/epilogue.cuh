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
template <class T> struct Result {
    T* first;
    long long row_stride, batch_stride;
    int rows, cols;
    float alpha, beta;
};

// Parts of the sums of each product, one after another: rows of a multiple of four columns.
struct Parts {
    float* first;
    int rows, cols;

    __device__ int pitch() const { return (cols + 3) / 4 * 4; }

    // Two neighbours, the first in an even column.
    __device__ void write(int part, int row, int col, float left, float right) const
    {
        if (row >= rows || col >= cols) return;
        float* to = first + (static_cast<long long>(part) * rows + row) * pitch() + col;
        *reinterpret_cast<float2*>(to) = make_float2(left, right);
    }
};

// What a warp writes at a time: 16 rows and 64 columns, in shared memory as TMA reads it with the swizzle of 128 bytes.
struct Slab {
    enum : int { ROWS = 16, COLS = 64, BYTES = ROWS * COLS * 2, BUFFERS = 2 };
    unsigned address;

    // The place of eight columns of a row.
    __device__ unsigned at(int row, int eight) const { return address + row * 128 + (eight ^ row % 8) * 16; }
};

// The sums of a thread in columns 64 `part` to 64 `part` + 63 of a tile, rounded. Thread `lane` has rows lane / 4 and 8 more, and columns 2 (lane % 4) and the next of
// each eight.
template <class T, int SUMS> __device__ void write_slab(const Slab& slab, const float (&sums)[SUMS], int part, const Result<T>& c, int row, int col, int batch)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        unsigned words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int at = 32 * part + 8 * pair + 2 * i;
            float low = c.alpha * sums[at], high = c.alpha * sums[at + 1];
            if (c.beta != 0) {
                const int y = row + lane / 4 + i % 2 * 8, x = col + 16 * pair + i / 2 * 8 + lane % 4 * 2;
                const T* old = c.first + batch * c.batch_stride + y * c.row_stride + x;
                if (y < c.rows && x < c.cols) low += c.beta * convert<float>(old[0]);
                if (y < c.rows && x + 1 < c.cols) high += c.beta * convert<float>(old[1]);
            }
            words[i] = rounded<T>(low, high);
        }
        store_matrices(slab.at(lane % 16, 2 * pair + lane / 16), words);
    }
}

// Copies a slab to C row by row, for a C that TMA cannot write: two elements of 16 bits a lane.
template <class T> __device__ void copy_slab(const Slab& slab, const Result<T>& c, int row, int col, int batch)
{
    const int lane = threadIdx.x % WARP;
    for (int y = 0; y < Slab::ROWS && row + y < c.rows; ++y) {
        T* to = c.first + batch * c.batch_stride + (row + y) * c.row_stride + col;
#pragma unroll
        for (int x = lane; x < Slab::COLS; x += WARP) {
            T element;
            asm volatile("ld.shared.u16 %0, [%1];" : "=h"(element.bits) : "r"(slab.at(y, x / 8) + x % 8 * 2) : "memory");
            if (col + x < c.cols) to[x] = element;
        }
    }
}
