// (min, +): lengths of shortest paths.
#pragma once
#include "infinity.cuh"

template <class T> struct MinPlus {
    static __device__ T zero() { return infinity<T>(); }
    static __device__ T one() { return T(0); }
    static __device__ T multiply(T a, T b) { return a + b; }
    static __device__ T add(T x, T y) { return min(x, y); }
    static __device__ T multiply_add(T a, T b, T sum) { return add(sum, multiply(a, b)); }
};
