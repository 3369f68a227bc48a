// Scales of operands: numbers by which sums are multiplied, one for each row or column, or for blocks of terms (SCALES).
#pragma once

#include "ptx.cuh"

// Terms that share a scale, at most.
enum : int { SCALE_TERMS = 128 };

// Where the factors of sums come from: nowhere; one for each row and column, at the end; or by blocks of terms, where 64 columns of B share one, or each has its own.
enum : int { AT_THE_END = 1, BY_COLUMNS_OF_64 = 2, BY_COLUMN = 3 };
enum : bool { SCALES_PARTS = SCALES >= BY_COLUMNS_OF_64 };

// The scales of an operand, with a row for each row of A or column of B.
struct Scale {
    const float* first;
    // From one to the next; 0 where there is only one.
    long long row, term;
    // Two to the power of this many rows share one. Negative where there are none.
    int shift;

    __device__ const float* place(int index, int last, int block) const { return first + (min(index, last) >> shift) * row + block * term; }

    // Of a row, which may lie behind the last, in a block of terms.
    __device__ float at(int index, int last, int block) const { return shift < 0 ? 1.0f : *place(index, last, block); }
};

// Those of both operands, and how many rows, columns and blocks of terms there are.
struct Scales {
    Scale a, b;
    int rows, cols, blocks;

    __device__ float row(int index, int block) const { return a.at(index, rows - 1, block); }
    __device__ float col(int index, int block) const { return b.at(index, cols - 1, block); }
};

// How a warp copies N scales of each block of terms to shared memory: lane `lane` that of every 32nd row, of SHARING rows each. An operand without scales is left alone.
template <int N, int SHARING> struct ScaleCopies {
    const float* next[(N + 31) / 32];
    long long term;
    bool has_scales;

    __device__ __forceinline__ ScaleCopies(const Scale& scale, int index, int last, int block) : term(scale.term), has_scales(scale.shift >= 0)
    {
#pragma unroll
        for (int i = 0; i < (N + 31) / 32; ++i) next[i] = scale.place(index + (i * 32 + threadIdx.x % 32) * SHARING, last, block);
    }

    // Of the next block, or zeros where there is none.
    __device__ __forceinline__ void copy(unsigned to, bool is_there)
    {
        if (!has_scales) return;
#pragma unroll
        for (int i = 0; i < (N + 31) / 32; ++i) {
            const int at = i * 32 + threadIdx.x % 32;
            if (N % 32 == 0 || at < N) copy_async<4>(to + at * 4, next[i], is_there);
            next[i] += term;
        }
    }
};

// The scales of N columns of a warp, of which a thread has columns 2 (lane % 4) and the next of each eight. Where EACH has its own, every lane brings one of 32, and gives it to others.
template <int N, bool EACH> struct ColumnScales {
    enum : int { SHARING = EACH ? 32 : 64 };
    float own[(N + SHARING - 1) / SHARING];

    __device__ __forceinline__ void load(const Scales& scales, int col, int block)
    {
        if constexpr (EACH) col += threadIdx.x % 32;
        // Keeps the compiler from holding all addresses in registers from one block of terms to the next.
        asm volatile("" : "+r"(col));
#pragma unroll
        for (int i = 0; i < (N + SHARING - 1) / SHARING; ++i) own[i] = scales.col(col + i * SHARING, block);
    }

    // Of one of the thread's two columns of an eight, by all threads of the warp.
    __device__ __forceinline__ float of(int eight, int which) const
    {
        if constexpr (!EACH) return own[eight * 8 / SHARING];
        return __shfl_sync(~0u, own[eight * 8 / SHARING], eight % 4 * 8 + threadIdx.x % 4 * 2 + which);
    }
};
