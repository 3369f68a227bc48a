// Words of two neighbouring columns of C, 16 bits each: one instruction computes both. Terms are rounded as the reference rounds them.
#pragma once
#include "selective.cuh"

__device__ inline unsigned bits_of(Half x) { return x.bits; }
__device__ inline unsigned bits_of(Bfloat16 x) { return x.bits; }
__device__ inline unsigned bits_of(short x) { return static_cast<unsigned short>(x); }

// The instructions on two numbers of a type, from compute capability 9.0 on. Where one of two floats is NaN the other is selected.
template <class E> struct Pair;
#define TILEWRIGHT_PAIR(E, NAME)                                                          \
    template <> struct Pair<E> {                                                          \
        static __device__ unsigned sum(unsigned x, unsigned y)                            \
        {                                                                                 \
            unsigned z;                                                                   \
            asm("add." NAME " %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));                   \
            return z;                                                                     \
        }                                                                                 \
        template <bool SMALLER> static __device__ unsigned select(unsigned x, unsigned y) \
        {                                                                                 \
            unsigned z;                                                                   \
            if constexpr (SMALLER) {                                                      \
                asm("min." NAME " %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));               \
            } else {                                                                      \
                asm("max." NAME " %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));               \
            }                                                                             \
            return z;                                                                     \
        }                                                                                 \
    }
TILEWRIGHT_PAIR(Half, "f16x2");
TILEWRIGHT_PAIR(Bfloat16, "bf16x2");
TILEWRIGHT_PAIR(short, "s16x2");
#undef TILEWRIGHT_PAIR

// A semiring R on words of two elements E.
template <class R, class E> struct Halves;

template <template <class> class Order, class Scalar, class E> struct Halves<Additive<Order, Scalar>, E> {
    using R = Additive<Order, Scalar>;
    static __device__ unsigned select(unsigned x, unsigned y)
    {
        return Pair<E>::template select<Order<Scalar>::IS_SMALLEST>(x, y);
    }
    static __device__ unsigned word(unsigned low, unsigned high) { return low | high << 16; }
    // An element as it lies in a word: an absent integer is as far away as its sums allow.
    static __device__ unsigned half(E x)
    {
        if constexpr (R::HAS_ABSENT) return bits_of(Additive<Order, E>::widen(x));
        else return bits_of(x);
    }
    static __device__ unsigned absent()
    {
        if constexpr (R::HAS_ABSENT) return bits_of(Additive<Order, E>::zero());
        else return bits_of(R::template narrow<E>(R::zero()));
    }
    static __device__ unsigned zero() { return word(absent(), absent()); }
    static __device__ unsigned multiply(unsigned a, unsigned b) { return Pair<E>::sum(a, b); }
    static __device__ unsigned add(unsigned x, unsigned y) { return select(x, y); }
    static __device__ unsigned multiply_add(unsigned a, unsigned b, unsigned sum) { return select(sum, multiply(a, b)); }
    static __device__ unsigned multiply_add_pair(unsigned a0, unsigned b0, unsigned a1, unsigned b1, unsigned sum, int)
    {
        return select(select(multiply(a0, b0), multiply(a1, b1)), sum);
    }
    static __device__ unsigned operand(unsigned x) { return x; }
    static __device__ unsigned widen(unsigned x) { return x; }
    static __device__ Scalar number(unsigned word, int column)
    {
        const unsigned short bits = column == 0 ? word : word >> 16;
        if constexpr (R::HAS_ABSENT) {
            const short x = bits;
            return Order<short>::is_better(x, Additive<Order, short>::zero() / 2) ? Scalar(x) : R::zero();
        } else {
            return convert<Scalar>(E{bits});
        }
    }
};
