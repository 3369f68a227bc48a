// The numbers that matrices hold: their types, their extremes, and conversions between them.
#pragma once

// IEEE binary16 and bfloat16, by their bits: sums are computed in float.
struct Half {
    unsigned short bits;
};
struct Bfloat16 {
    unsigned short bits;
};

template <class T, class U> constexpr bool SAME = false;
template <class T> constexpr bool SAME<T, T> = true;
template <class T> constexpr bool IS_INTEGER = T(0.5f) == T(0);

// Not smaller, and not larger, than any number of a type.
template <class T> __device__ T top();
template <class T> __device__ T bottom();
template <> __device__ inline float top<float>() { return __int_as_float(0x7f800000); }
template <> __device__ inline float bottom<float>() { return -top<float>(); }
template <> __device__ inline double top<double>() { return __longlong_as_double(0x7ff0000000000000); }
template <> __device__ inline double bottom<double>() { return -top<double>(); }
template <> __device__ inline short top<short>() { return 0x7fff; }
template <> __device__ inline short bottom<short>() { return ~0x7fff; }
template <> __device__ inline int top<int>() { return 0x7fffffff; }
template <> __device__ inline int bottom<int>() { return ~top<int>(); }
template <> __device__ inline long long top<long long>() { return 0x7fffffffffffffff; }
template <> __device__ inline long long bottom<long long>() { return ~top<long long>(); }

// The same number in another type, rounded to nearest, ties to even.
template <class To, class From> struct Convert {
    static __device__ To of(From x) { return To(x); }
};
template <> struct Convert<float, Half> {
    static __device__ float of(Half x)
    {
        float y;
        asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
        return y;
    }
};
template <> struct Convert<Half, float> {
    static __device__ Half of(float x)
    {
        Half y;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
    }
};
template <> struct Convert<float, Bfloat16> {
    static __device__ float of(Bfloat16 x) { return __uint_as_float(unsigned(x.bits) << 16); }
};
template <> struct Convert<Bfloat16, float> {
    static __device__ Bfloat16 of(float x)
    {
        const unsigned bits = __float_as_uint(x);
        // A NaN keeps its upper bits, of which one is set; all else is rounded, to infinity as well.
        const unsigned rounded = x == x ? bits + (0x7fff + (bits >> 16 & 1)) : bits | 0x400000;
        return {static_cast<unsigned short>(rounded >> 16)};
    }
};
template <class To, class From> __device__ To convert(From x) { return Convert<To, From>::of(x); }
