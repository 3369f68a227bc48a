// Floats of 8 bits, by their bits: sums are computed in float. Every GPU converts them by arithmetic.
#pragma once

#include "numbers.cuh"

// With 4 bits of exponent and 3 digits after the point: no infinity, NaN by all bits set. And with 5 and 2, as IEEE 754 has them.
struct Float8E4m3 {
    unsigned char bits;
};
struct Float8E5m2 {
    unsigned char bits;
};

// Exponent and digits in the place of a float's, times the difference of the biases, which normalises subnormals as well.
template <int DIGITS, int BIAS> __device__ float widened(unsigned magnitude) { return __uint_as_float(magnitude << (23 - DIGITS)) * __uint_as_float((254u - BIAS) << 23); }
__device__ inline float signed_as(unsigned char bits, float x) { return __uint_as_float(__float_as_uint(x) | (bits & 0x80u) << 24); }

template <> struct Convert<float, Float8E4m3> {
    static __device__ float of(Float8E4m3 x)
    {
        const unsigned magnitude = x.bits & 0x7f;
        return signed_as(x.bits, magnitude == 0x7f ? __uint_as_float(0x7fc00000) : widened<3, 7>(magnitude));
    }
};
template <> struct Convert<float, Float8E5m2> {
    static __device__ float of(Float8E5m2 x)
    {
        const unsigned magnitude = x.bits & 0x7f;
        // Infinity and NaN are those of a float with the same digits.
        return signed_as(x.bits, magnitude >= 0x7c ? __uint_as_float(0x7f800000 | magnitude << 21) : widened<2, 15>(magnitude));
    }
};
