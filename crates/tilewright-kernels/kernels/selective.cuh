// Semirings whose "plus" selects one of its operands. A term that is NaN is never selected.
#pragma once
#include "numbers.cuh"
#include "turn.cuh"

#ifdef __CUDA_ARCH__
constexpr int ARCHITECTURE = __CUDA_ARCH__;
#else
constexpr int ARCHITECTURE = 0;
#endif

// The smaller one is selected. With `add` the first operand stays unless the second is better; `select` is for sums that are no NaN.
template <class T> struct Smallest {
    enum : bool { IS_SMALLEST = true };
    static __device__ T worst() { return top<T>(); }
    static __device__ T best() { return bottom<T>(); }
    template <class O> static __device__ O worst_of() { return top<O>(); }
    static __device__ bool is_better(T x, T y) { return x < y; }
    static __device__ T select(T sum, T term)
    {
        if constexpr (SAME<T, double>) return term < sum ? term : sum;  // the library's function has an opinion on NaN
        return min(term, sum);
    }
    // NaN where either is, from compute capability 8.0 on floats.
    static __device__ T select_nan(T a, T b)
    {
        if constexpr (SAME<T, float> && ARCHITECTURE >= 800) {
            float y;
            asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
            return y;
        }
        return select(a, b);
    }
};

// The larger one is selected.
template <class T> struct Largest {
    enum : bool { IS_SMALLEST = false };
    static __device__ T worst() { return bottom<T>(); }
    static __device__ T best() { return top<T>(); }
    template <class O> static __device__ O worst_of() { return bottom<O>(); }
    static __device__ bool is_better(T x, T y) { return x > y; }
    static __device__ T select(T sum, T term)
    {
        if constexpr (SAME<T, double>) return term > sum ? term : sum;
        return max(term, sum);
    }
    static __device__ T select_nan(T a, T b)
    {
        if constexpr (SAME<T, float> && ARCHITECTURE >= 800) {
            float y;
            asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
            return y;
        }
        return select(a, b);
    }
};

template <template <class> class Order, class T> struct Selective {
    enum : bool { HAS_ABSENT = false, IN_ORDER = false };
    static __device__ T zero() { return Order<T>::worst(); }
    template <class O> static __device__ O add(O x, O y) { return Order<O>::is_better(y, x) ? y : x; }
    static __device__ T operand(T x) { return x; }
    static __device__ T number(T word, int) { return word; }
    template <class E> static __device__ T widen(E x) { return convert<T>(x); }
    template <class O> static __device__ O narrow(T x) { return convert<O>(x + T(0)); }  // zeros are positive
};

// Floats of one sign are ordered as their bits without a sign are, and integers have an instruction that selects among three.
__device__ inline float nearest_to_zero(float x, float y, float z)
{
    return __uint_as_float(min(min(__float_as_uint(x), __float_as_uint(y)), __float_as_uint(z)));
}
__device__ inline float farthest_from_zero(float x, float y, float z)
{
    return __uint_as_float(max(max(__float_as_uint(x), __float_as_uint(y)), __float_as_uint(z)));
}

// "times" is +. An integer that stands for "absent" is computed as one so far away that sums of two are neither a term nor overflow.
template <template <class> class Order, class T> struct Additive : Selective<Order, T> {
    enum : bool { HAS_ABSENT = IS_INTEGER<T>, IN_ORDER = false };
    static __device__ T zero() { return HAS_ABSENT ? T(Order<T>::worst() / 2) : Order<T>::worst(); }
    static __device__ T one() { return T(0); }
    static __device__ T multiply(T a, T b) { return a + b; }
    static __device__ T multiply_add(T a, T b, T sum) { return Order<T>::select(sum, a + b); }
    // Two terms. Floats must be plain. Integers are added and selected by one instruction, or added by multiply-adds in a unit of their own
    // and selected three at a time: a number of term pairs each keeps both units busy. Nothing but the launch knows that the factor is 1.
    static __device__ T multiply_add_pair(T a0, T b0, T a1, T b1, T sum, int which)
    {
        if constexpr (SAME<T, float>) return nearest_to_zero(a0 + b0, a1 + b1, sum);
        const int one = which % 2 ? 1 : gridDim.z;
        return Order<T>::select(Order<T>::select(sum, a0 * one + b0), a1 * one + b1);
    }
    // The same of floats, where the sum is better than one: the better a number of its sign is, the farther it is from zero, as its bits
    // without the sign tell. Nothing else has bits so large, and a sum that is NaN has no sign. Where the largest is selected, all are negated.
    static __device__ bool has_settled(T sum) { return Order<T>::is_better(sum, one()); }
    static __device__ T settled(T sum) { return Order<T>::IS_SMALLEST ? sum : -sum; }
    static __device__ T multiply_add_settled_pair(T a0, T b0, T a1, T b1, T sum)
    {
        return farthest_from_zero(settled(a0) + settled(b0), settled(a1) + settled(b1), sum);
    }
    // Where the order of sums of such numbers is not that of their bits: some have the other sign.
    static __device__ int excludes(T x)
    {
        return (Order<T>::IS_SMALLEST ? __float_as_int(x) >= 0 : x <= 0) ? 0 : NOT_PAIRS;
    }
    template <class E> static __device__ T widen(E x)
    {
        if constexpr (HAS_ABSENT) {
            if (x == Order<T>::template worst_of<E>()) return zero();
        }
        return convert<T>(x);
    }
    template <class O> static __device__ O narrow(T x)
    {
        if constexpr (HAS_ABSENT) {
            const bool is_there = Order<T>::is_better(x, zero() / 2);
            return is_there ? O(x) : Order<T>::template worst_of<O>();
        } else {
            return convert<O>(x + T(0));
        }
    }
};

// "times" is x, on numbers that are not negative.
template <template <class> class Order, class T> struct Multiplicative : Selective<Order, T> {
    static __device__ T zero() { return Order<T>::worst() < T(0) ? T(0) : Order<T>::worst(); }
    static __device__ T one() { return T(1); }
    static __device__ T multiply(T a, T b) { return a * b; }
    static __device__ T multiply_add(T a, T b, T sum) { return Order<T>::select(sum, a * b); }
    // Two terms of plain floats.
    static __device__ T multiply_add_pair(T a0, T b0, T a1, T b1, T sum, int)
    {
        return Order<T>::IS_SMALLEST ? nearest_to_zero(a0 * b0, a1 * b1, sum) : farthest_from_zero(a0 * b0, a1 * b1, sum);
    }
    static __device__ int excludes(T x)
    {
        return (Order<T>::IS_SMALLEST ? __float_as_int(x) >= 0 : x >= 0 && x < top<T>()) ? 0 : NOT_PAIRS;
    }
};

// "times" selects by the opposite order: the bottleneck of a path. A term with a NaN is NaN, or its operand is made absent beforehand.
template <template <class> class Order, template <class> class Opposite, class T> struct Bottleneck : Selective<Order, T> {
    static __device__ T one() { return Order<T>::best(); }
    static __device__ T operand(T x)
    {
        constexpr bool is_instruction = SAME<T, float> && ARCHITECTURE >= 800;
        return is_instruction || IS_INTEGER<T> || x == x ? x : Order<T>::worst();
    }
    static __device__ T multiply(T a, T b) { return Opposite<T>::select_nan(a, b); }
    static __device__ T multiply_add(T a, T b, T sum) { return Order<T>::select(sum, multiply(a, b)); }
    // Two terms of integers.
    static __device__ T multiply_add_pair(T a0, T b0, T a1, T b1, T sum, int)
    {
        return Order<T>::select(Order<T>::select(multiply(a0, b0), multiply(a1, b1)), sum);
    }
};
