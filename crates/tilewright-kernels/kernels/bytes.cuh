// Bytes in a semiring R that selects among integers. The worst byte becomes the worst integer: it is no better than a sum without terms. On the way
// back the lowest bits of that integer are those of the byte.
#pragma once

template <class R> struct Bytes : R {
    static __device__ int widen(unsigned char x) { return x == static_cast<unsigned char>(R::zero()) ? R::zero() : x; }
    static __device__ int widen(int x) { return x; }
};
