// Numbers that lie close together, in fewer bits: each is written as its distance from the best one of its matrix, which is a whole number.
//
// The best term of min-plus and max-plus is then the one with the smallest sum of distances. "Absent" is a distance beyond all sums of two
// finite ones. Where such sums fit, results have the same bits: a sum of two numbers is the sum of the best ones and of the distances, as an
// integer, and is rounded once, like the sum itself.
#pragma once
#include "coded.cuh"
#include "selective.cuh"
#include "turn.cuh"

// What is known of the elements of a matrix that are there.
struct Window {
    long long least, most;  // without any element the smallest is the larger one
    int absent, outside;    // whether an element is absent, and whether one is no whole number or too large

    // Far beyond all numbers, and not so far that a difference overflows.
    static __device__ Window nothing() { return {1ll << 62, -(1ll << 62), 0, 0}; }
    __device__ void join(const Window& other)
    {
        least = min(least, other.least);
        most = max(most, other.most);
        absent |= other.absent;
        outside |= other.outside;
    }
    __device__ long long span() const { return least > most ? 0 : most - least; }
};

// What all threads of a block have seen, for each of them.
template <int THREADS> __device__ Window joined_by_block(Window mine)
{
    __shared__ Window warps[THREADS / 32];
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        mine.join({__shfl_xor_sync(~0u, mine.least, lane), __shfl_xor_sync(~0u, mine.most, lane),
                   __shfl_xor_sync(~0u, mine.absent, lane), __shfl_xor_sync(~0u, mine.outside, lane)});
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    Window all = warps[0];
    for (int warp = 1; warp < THREADS / 32; ++warp) all.join(warps[warp]);
    __syncthreads();
    return all;
}

// How the numbers of a matrix, or of a product, are written.
struct Code {
    long long origin;  // the number that is written as 0
    unsigned far;      // "absent": more than any sum of two finite distances
};

// Whether a product is computed with distances, and the origins of A and B.
struct Decision {
    int excluded;
    unsigned far;
    long long origin[2];
};

// The largest sums: no more than a sum without terms. Absent ones on both sides are among them.
constexpr long long CLOSEST = 0xffff, NEAREST = 0x7fffffff;

__device__ inline Decision decided(const Window (&windows)[2], bool largest_is_best)
{
    const long long far = windows[0].span() + windows[1].span() + 1;
    const long long largest = windows[0].absent || windows[1].absent ? 2 * far : far;
    const bool outside = windows[0].outside || windows[1].outside;
    Decision decision;
    decision.excluded = (outside || largest > CLOSEST ? NOT_CLOSE : 0) | (outside || largest > NEAREST ? NOT_NEAR : 0);
    decision.far = unsigned(far);
    for (int i = 0; i < 2; ++i) {
        const bool empty = windows[i].least > windows[i].most;
        decision.origin[i] = empty ? 0 : largest_is_best ? windows[i].most : windows[i].least;
    }
    return decision;
}

// The numbers of a semiring R, and their distances.
template <class R> struct Distances;

template <template <class> class Order, class T> struct Distances<Additive<Order, T>> {
    enum : bool { LARGEST_IS_BEST = !Order<T>::IS_SMALLEST };

    // NaN is never selected, as if it were absent.
    static __device__ bool is_absent(T x) { return !Order<T>::is_better(x, Order<T>::worst()); }
    // Whole numbers which have all their digits, and integers in the domain.
    static __device__ bool is_inside(T x)
    {
        constexpr T LIMIT = sizeof(T) == 4 && IS_INTEGER<T> ? T(1ll << 28) : IS_INTEGER<T> ? T(1ll << 59) : T(1ll << 53);
        if constexpr (IS_INTEGER<T>) return -LIMIT < x && x < LIMIT;
        else return -LIMIT < x && x < LIMIT && x == trunc(x);
    }
    static __device__ void see(Window& window, T x)
    {
        if (is_absent(x)) {
            window.absent = 1;
        } else if (is_inside(x)) {
            window.least = min(window.least, static_cast<long long>(x));
            window.most = max(window.most, static_cast<long long>(x));
        } else {
            window.outside = 1;
        }
    }
    static __device__ unsigned distance(T x, Code code)
    {
        if (is_absent(x)) return code.far;
        const long long number = static_cast<long long>(x);
        return unsigned(LARGEST_IS_BEST ? code.origin - number : number - code.origin);
    }
    static __device__ T number(unsigned distance, Code code)
    {
        if (distance >= code.far) return Additive<Order, T>::zero();
        return T(LARGEST_IS_BEST ? code.origin - (long long)distance : code.origin + (long long)distance);
    }
};

// Distances of two neighbouring columns, 16 bits each.
template <class R> struct Close {
    static __device__ unsigned select(unsigned x, unsigned y)
    {
        unsigned z;
        asm("min.u16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
        return z;
    }
    static __device__ unsigned multiply(unsigned a, unsigned b)
    {
        unsigned z;
        asm("add.u16x2 %0, %1, %2;" : "=r"(z) : "r"(a), "r"(b));
        return z;
    }
    static __device__ unsigned word(unsigned low, unsigned high) { return low | high << 16; }
    static __device__ unsigned zero() { return ~0u; }
    // Sums of two are not smaller than any other that is no zero.
    static __device__ unsigned absent() { return 0x7fff; }
    static __device__ unsigned padding() { return word(absent(), absent()); }
    static __device__ unsigned add(unsigned x, unsigned y) { return select(x, y); }
    static __device__ unsigned multiply_add(unsigned a, unsigned b, unsigned sum) { return select(sum, multiply(a, b)); }
    static __device__ unsigned operand(unsigned x) { return x; }
    static __device__ unsigned widen(unsigned x) { return x; }
    static __device__ unsigned part(unsigned word, int column) { return column == 0 ? word & 0xffff : word >> 16; }
};

// Distances of 31 bits.
template <class R> struct Near : Additive<Smallest, int> {
    static __device__ int zero() { return top<int>(); }
    static __device__ int padding() { return 0x3fffffff; }
    static __device__ int widen(int x) { return x; }
    static __device__ unsigned part(int word, int) { return unsigned(word); }
};

// What both have in common.
template <class Words, class R> struct CodedDistances {
    using Code = ::Code;
    enum { PACKERS = 2 };
    static __device__ Code sum(const int* decision)
    {
        const Decision& all = *reinterpret_cast<const Decision*>(decision);
        return {all.origin[0] + all.origin[1], all.far};
    }
    // Decides by what `scanners` blocks have seen of A, and then of B, and shares the codes of both. Each block does; the first one tells later
    // launches.
    static __device__ int decide(int* decision, const void* seen, int scanners, Code (&codes)[2])
    {
        constexpr int THREADS = 256;
        const Window* from = static_cast<const Window*>(seen);
        Window windows[2];
        for (int i = 0; i < 2; ++i) {
            Window mine = Window::nothing();
            for (int block = threadIdx.x; block < scanners; block += THREADS) mine.join(from[i * scanners + block]);
            windows[i] = joined_by_block<THREADS>(mine);
        }
        const Decision all = decided(windows, Distances<R>::LARGEST_IS_BEST);
        if (threadIdx.x < 2) codes[threadIdx.x] = {threadIdx.x == 0 ? all.origin[0] : all.origin[1], all.far};
        if (blockIdx.x == 0 && threadIdx.x == 0) *reinterpret_cast<Decision*>(decision) = all;
        __syncthreads();
        return all.excluded;
    }
    template <class E> static __device__ unsigned half(E x, Code code) { return Distances<R>::distance(x, code); }
    template <class E> static __device__ auto word(E x, Code code) { return Distances<R>::distance(x, code); }
    template <class Word> static __device__ auto number(Word word, int column, Code code)
    {
        return Distances<R>::number(Words::part(word, column), code);
    }
    static __device__ auto padding() { return Words::padding(); }
};
template <class R> struct Coded<Close<R>> : CodedDistances<Close<R>, R> {};
template <class R> struct Coded<Near<R>> : CodedDistances<Near<R>, R> {};
