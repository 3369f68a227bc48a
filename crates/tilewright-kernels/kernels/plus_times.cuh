// (+, x): ordinary matrix products.
#pragma once

template <class T> struct PlusTimes {
    static __device__ T zero() { return T(0); }
    static __device__ T one() { return T(1); }
    static __device__ T multiply(T a, T b) { return a * b; }
    static __device__ T add(T x, T y) { return x + y; }
    static __device__ T multiply_add(T a, T b, T sum) { return a * b + sum; }
};

// Unsigned arithmetic: it wraps, where signed overflow is undefined.
template <> struct PlusTimes<int> {
    static __device__ int zero() { return 0; }
    static __device__ int one() { return 1; }
    static __device__ int multiply(int a, int b) { return int(unsigned(a) * unsigned(b)); }
    static __device__ int add(int x, int y) { return int(unsigned(x) + unsigned(y)); }
    static __device__ int multiply_add(int a, int b, int sum) { return add(multiply(a, b), sum); }
};
