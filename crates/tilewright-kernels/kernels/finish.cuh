// What follows a sum that is joined with C: a bias for each column of the caller's C (BIAS), and an activation (ACTIVATION).
#pragma once

#include "config.cuh"
#include "numbers.cuh"

enum : int { RELU = 1, GELU = 2 };

// The activation of a sum.
template <class A> __device__ A activated(A x)
{
    if constexpr (ACTIVATION == RELU) {
        return x < A(0) ? A(0) : x;  // NaN stays
    } else if constexpr (ACTIVATION == GELU) {
        // (1 + tanh(y)) / 2 = 1 / (1 + exp(-2 y)), without the cancellation where y is negative.
        constexpr A linear = A(-1.5957691216057308), cubic = linear * A(0.044715);
        const A e = exp(x * (cubic * x * x + linear));
        return e == top<A>() ? A(0) : x / (A(1) + e);
    } else {
        return x;
    }
}

// A vector beside C: how far its elements lie apart from row to row, or from column to column, of C as a kernel sees it. The other distance is 0.
struct Bias {
    const Out* first;
    long long row, col;

    // What becomes of a sum in C, not yet rounded.
    template <class A> __device__ A finish(A sum, int r, int c) const
    {
        if constexpr (BIAS) sum += convert<A>(first[r * row + c * col]);
        return activated(sum);
    }
};
