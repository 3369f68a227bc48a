// (log(exp x + exp y), +): sums of exponentials, in logarithms.
//
// Exponentials and logarithms are the polynomials of the processor's way, without a branch: each within two unit roundoffs.
#pragma once
#include "numbers.cuh"

__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

// The larger one; a first operand that is NaN is passed over.
__device__ inline float larger(float x, float y) { return fmaxf(x, y); }
__device__ inline double larger(double x, double y) { return x > y ? x : y; }

// What the functions know of a type.
template <class T> struct Format;
template <> struct Format<float> {
    using Bits = unsigned;
    enum : int { DIGITS = 23, BIAS = 127 };
    static __device__ Bits bits(float x) { return __float_as_uint(x); }
    static __device__ float number(Bits x) { return __uint_as_float(x); }
    // A power of 2 is normal from here on, as the exponential of a number above it.
    static __device__ float lowest() { return -87.33654f; }
    // The logarithm of two: a part whose products with exponents are exact, and the rest.
    static __device__ float ln_2_high() { return 0.693359375f; }
    static __device__ float ln_2_low() { return -2.1219444e-4f; }
    // Where elements of a row and of a column span no more than this together, no factor vanishes.
    static __device__ float span() { return 87.0f; }
    // (exp r - 1 - r) / r^2, and (log((1 + z) / (1 - z)) - 2 z) / (2 z^3) of z^2.
    static __device__ float exp_rest(float r)
    {
        float p = 1.0f / 5040;
        p = fused(p, r, 1.0f / 720);
        p = fused(p, r, 1.0f / 120);
        p = fused(p, r, 1.0f / 24);
        p = fused(p, r, 1.0f / 6);
        return fused(p, r, 1.0f / 2);
    }
    static __device__ float log_rest(float square)
    {
        float p = 1.0f / 9;
        p = fused(p, square, 1.0f / 7);
        p = fused(p, square, 1.0f / 5);
        return fused(p, square, 1.0f / 3);
    }
};
template <> struct Format<double> {
    using Bits = unsigned long long;
    enum : int { DIGITS = 52, BIAS = 1023 };
    static __device__ Bits bits(double x) { return __double_as_longlong(x); }
    static __device__ double number(Bits x) { return __longlong_as_double(x); }
    static __device__ double lowest() { return -708.396418532264; }
    static __device__ double ln_2_high() { return 6.931471803691238e-1; }
    static __device__ double ln_2_low() { return 1.9082149292705877e-10; }
    static __device__ double span() { return 708; }
    static __device__ double exp_rest(double r)
    {
        double p = 1.0 / 6227020800;
        p = fused(p, r, 1.0 / 479001600);
        p = fused(p, r, 1.0 / 39916800);
        p = fused(p, r, 1.0 / 3628800);
        p = fused(p, r, 1.0 / 362880);
        p = fused(p, r, 1.0 / 40320);
        p = fused(p, r, 1.0 / 5040);
        p = fused(p, r, 1.0 / 720);
        p = fused(p, r, 1.0 / 120);
        p = fused(p, r, 1.0 / 24);
        p = fused(p, r, 1.0 / 6);
        return fused(p, r, 1.0 / 2);
    }
    static __device__ double log_rest(double square)
    {
        double p = 1.0 / 21;
        p = fused(p, square, 1.0 / 19);
        p = fused(p, square, 1.0 / 17);
        p = fused(p, square, 1.0 / 15);
        p = fused(p, square, 1.0 / 13);
        p = fused(p, square, 1.0 / 11);
        p = fused(p, square, 1.0 / 9);
        p = fused(p, square, 1.0 / 7);
        p = fused(p, square, 1.0 / 5);
        return fused(p, square, 1.0 / 3);
    }
};

// Two numbers that are not yet added: a sum and its rounding error, or an exponent's part of a logarithm and the rest.
template <class T> struct Two {
    T high, low;
};

template <class T> struct LogPlus {
    using F = Format<T>;
    using Bits = typename F::Bits;

    static __device__ T zero() { return bottom<T>(); }

    // Adding it leaves the nearest whole number in the last digits.
    static __device__ T round() { return T(Bits(3) << (F::DIGITS - 1)); }

    static __device__ Two<T> two_sum(T x, T y)
    {
        const T sum = x + y, part = sum - x;
        return {sum, (x - (sum - part)) + (y - part)};
    }

    // exp(x + low), where x is at most 0 and `low` less than a unit roundoff of it. It is 0 where that is below the smallest normal
    // number, and for NaN.
    static __device__ T exponential(T x, T low)
    {
        const bool inside = x > F::lowest();
        const T y = inside ? x : T(0), log2_e = T(1.442695040888963407);
        const T rounded = fused(y, log2_e, round()), n = rounded - round();
        const T r = fused(-n, F::ln_2_low(), fused(-n, F::ln_2_high(), y)) + low;
        const T exp = T(1) + fused(r * r, F::exp_rest(r), r);
        const T power = F::number((F::bits(rounded) << F::DIGITS) + (Bits(F::BIAS) << F::DIGITS));
        return inside ? exp * power : T(0);
    }

    // log x of a normal number: how many logarithms of two, and the rest.
    static __device__ Two<T> logarithm(T x)
    {
        const Bits bits = F::bits(x), one = F::bits(T(1)), root = F::bits(T(0.707106781186547524));
        // x = 2^exponent m with m between the root of 1/2 and that of 2.
        const Bits exponent = (bits + (one - root)) >> F::DIGITS;
        const T m = F::number(bits - (exponent << F::DIGITS) + (Bits(F::BIAS) << F::DIGITS));
        const T f = m - T(1), z = f / (T(2) + f), square = z * z;
        return {F::number(F::bits(round()) + exponent) - (round() + T(F::BIAS)), fused((z + z) * square, F::log_rest(square), z + z)};
    }

    // a + b + log s, rounded nearly once; not finite where a + b is not. s is normal.
    static __device__ T scaled_log(T a, T b, T s)
    {
        const Two<T> log = logarithm(s), first = two_sum(a, b), second = two_sum(first.high, log.high * F::ln_2_high());
        return second.high + (first.low + second.low + fused(log.high, F::ln_2_low(), log.low));
    }

    // log(exp x + exp y).
    static __device__ T add(T x, T y)
    {
        const T distance = T(0) - fabs(x - y), added = exponential(distance, T(0)), sum = T(1) + added;
        const Two<T> log = logarithm(sum);
        // With what was lost of a small addend.
        const T rest = fused(log.high, F::ln_2_low(), log.low) + (added - (sum - T(1)));
        if (x == y) return x + (F::ln_2_high() + F::ln_2_low());
        return distance <= T(0) ? (x > y ? x : y) + fused(log.high, F::ln_2_high(), rest) : top<T>() - top<T>();
    }
};

// The largest element of a line, which is NaN where some element is, and the smallest one above -inf.
template <class T> struct Extremes {
    T best, least;

    static __device__ Extremes none() { return {bottom<T>(), top<T>()}; }
    __device__ void see(T largest, T smallest)
    {
        if (best == best && !(largest <= best)) best = largest;
        if (smallest > bottom<T>() && smallest < least) least = smallest;
    }
};
