// Words of 32 terms of (or, and), a bit each: one instruction computes all of them.
#pragma once
#include "or_and.cuh"

struct Bits {
    static __device__ unsigned zero() { return 0; }
    static __device__ unsigned multiply(unsigned a, unsigned b) { return a & b; }
    static __device__ unsigned add(unsigned x, unsigned y) { return x | y; }
    static __device__ unsigned multiply_add(unsigned a, unsigned b, unsigned sum) { return sum | (a & b); }
    static __device__ unsigned operand(unsigned x) { return x; }
    static __device__ unsigned widen(unsigned x) { return x; }
    static __device__ int number(unsigned word, int) { return word != 0; }
    // Four bytes that are 0 or 1 as four bits, the first the lowest.
    static __device__ unsigned gather(unsigned bytes) { return bytes * 0x01020408 >> 24 & 0xf; }
};
