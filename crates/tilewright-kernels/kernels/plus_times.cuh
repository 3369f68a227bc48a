// (+, x): ordinary matrix products.
#pragma once
#include "numbers.cuh"

// Integers are computed without a sign: they wrap, where signed overflow is undefined.
template <class T> struct Wrapping {
    using Type = T;
};
template <> struct Wrapping<int> {
    using Type = unsigned;
};
template <> struct Wrapping<long long> {
    using Type = unsigned long long;
};

template <class T> struct PlusTimes {
    using U = typename Wrapping<T>::Type;
    enum : bool { HAS_ABSENT = false, IN_ORDER = false };
    static __device__ T zero() { return T(0); }
    static __device__ T one() { return T(1); }
    static __device__ T multiply(T a, T b) { return T(U(a) * U(b)); }
    static __device__ T add(T x, T y) { return T(U(x) + U(y)); }
    static __device__ T multiply_add(T a, T b, T sum) { return T(U(a) * U(b) + U(sum)); }
    static __device__ T operand(T x) { return x; }
    static __device__ T number(T word, int) { return word; }
    template <class E> static __device__ T widen(E x) { return convert<T>(x); }
    template <class O> static __device__ O narrow(T x) { return convert<O>(x); }
};
