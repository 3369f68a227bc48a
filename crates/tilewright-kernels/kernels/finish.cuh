// What follows a sum that is joined with C: a bias for each column of the caller's C (BIAS), and an activation (ACTIVATION).
#pragma once

#include "config.cuh"
#include "numbers.cuh"

enum : int { RELU = 1, GELU = 2 };

// 2 to a power, by the special function unit. A result below the normal numbers is 0.
__device__ inline float exp2_approximate(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// The activation of a sum.
template <class A> __device__ A activated(A x)
{
    if constexpr (ACTIVATION == RELU) {
        return x < A(0) ? A(0) : x;  // NaN stays
    } else if constexpr (ACTIVATION == GELU) {
        // (1 + tanh(y)) / 2 = 1 / (1 + exp(-2 y)), without the cancellation where y is negative.
        constexpr A linear = A(-1.5957691216057308), cubic = linear * A(0.044715);
        if constexpr (sizeof(Out) == 2 && sizeof(A) == 4) {
            // Right to some 20 bits, of which a result keeps 11 at most.
            constexpr A per_bit = A(1.4426950408889634);
            const A e = exp2_approximate(x * (per_bit * cubic * x * x + per_bit * linear));
            return e == top<A>() ? A(0) : __fdividef(x, A(1) + e);
        } else {
            const A e = exp(x * (cubic * x * x + linear));
            return e == top<A>() ? A(0) : x / (A(1) + e);
        }
    } else {
        return x;
    }
}

// A vector beside C: how far its elements lie apart from row to row, or from column to column, of C as a kernel sees it. The other distance is 0.
struct Bias {
    const Out* first;
    long long row, col;

    __device__ Out at(int r, int c) const { return first[r * row + c * col]; }

    // What becomes of a sum in C, not yet rounded.
    template <class A> __device__ A finish(A sum, int r, int c) const
    {
        if constexpr (BIAS) sum += convert<A>(at(r, c));
        return activated(sum);
    }
};
