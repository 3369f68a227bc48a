// Words that are floats as integers of the same order: these have an instruction that selects among three. A NaN is absent.
#pragma once
#include "selective.cuh"

template <class R> struct Ordered;

template <template <class> class Order, template <class> class Opposite>
struct Ordered<Bottleneck<Order, Opposite, float>> : Bottleneck<Order, Opposite, int> {
    // Its own inverse on bits: all but the sign are turned round where it is set.
    static __device__ int turned(int bits) { return bits ^ (bits >> 31 & 0x7fffffff); }
    static __device__ int widen(float x) { return turned(__float_as_int(x == x ? x + 0.0f : Order<float>::worst())); }
    static __device__ int widen(int x) { return x; }
    static __device__ int zero() { return widen(Order<float>::worst()); }
    static __device__ float number(int word, int) { return __int_as_float(turned(word)); }
};
