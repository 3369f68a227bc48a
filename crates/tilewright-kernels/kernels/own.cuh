// What expressions of users' own semirings are made of, with the bits that the processor computes: floats are rounded after every operation, where
// the compiler would fuse some of them, a minimum or maximum of a number and NaN is the number, and integers wrap.
#pragma once
#include "plus_times.cuh"
#include "selective.cuh"

// On integers.
template <class T> struct Operations {
    using U = typename Wrapping<T>::Type;
    static __device__ T add(T x, T y) { return T(U(x) + U(y)); }
    static __device__ T subtract(T x, T y) { return T(U(x) - U(y)); }
    static __device__ T multiply(T x, T y) { return T(U(x) * U(y)); }
    static __device__ T divide(T x, T y) { return y == 0 ? T(0) : y == -1 ? negate(x) : x / y; }
    static __device__ T smaller(T x, T y) { return min(x, y); }
    static __device__ T larger(T x, T y) { return max(x, y); }
    static __device__ T negate(T x) { return T(U(0) - U(x)); }
    static __device__ T absolute(T x) { return x < 0 ? negate(x) : x; }
};
template <> struct Operations<float> {
    static __device__ float add(float x, float y) { return __fadd_rn(x, y); }
    static __device__ float subtract(float x, float y) { return __fsub_rn(x, y); }
    static __device__ float multiply(float x, float y) { return __fmul_rn(x, y); }
    static __device__ float divide(float x, float y) { return __fdiv_rn(x, y); }
    static __device__ float smaller(float x, float y) { return fminf(x, y); }
    static __device__ float larger(float x, float y) { return fmaxf(x, y); }
    static __device__ float negate(float x) { return -x; }
    static __device__ float absolute(float x) { return fabsf(x); }
};
template <> struct Operations<double> {
    static __device__ double add(double x, double y) { return __dadd_rn(x, y); }
    static __device__ double subtract(double x, double y) { return __dsub_rn(x, y); }
    static __device__ double multiply(double x, double y) { return __dmul_rn(x, y); }
    static __device__ double divide(double x, double y) { return __ddiv_rn(x, y); }
    static __device__ double smaller(double x, double y) { return x < y || y != y ? x : y; }
    static __device__ double larger(double x, double y) { return x > y || y != y ? x : y; }
    static __device__ double negate(double x) { return -x; }
    static __device__ double absolute(double x) { return fabs(x); }
};
