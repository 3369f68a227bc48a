// (or, and): reachability, on integers that are 0 or 1.
#pragma once
#include "numbers.cuh"

template <class T> struct OrAnd {
    enum : bool { HAS_ABSENT = false, IN_ORDER = false };
    static __device__ T zero() { return T(0); }
    static __device__ T one() { return T(1); }
    static __device__ T multiply(T a, T b) { return a & b; }
    static __device__ T add(T x, T y) { return x | y; }
    static __device__ T multiply_add(T a, T b, T sum) { return sum | (a & b); }
    static __device__ T operand(T x) { return x; }
    static __device__ T number(T word, int) { return word; }
    template <class E> static __device__ T widen(E x) { return convert<T>(x); }
    template <class O> static __device__ O narrow(T x) { return convert<O>(x); }
};
