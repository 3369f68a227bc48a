// pack: copies A, B or both as a kernel wants to read them: k by k, with neighbouring rows of A (columns of B) beside each
// other, in words as sums have them, filled up with the semiring's zero to whole tiles. A word holds a number, COLUMNS columns of B and
// a row of A as often, or TERMS terms. With LOOKS each block says whether it found an element that is not plain.
//
// Such copies need no guards, and are read in vectors. Blocks that stay move 64 x 64 elements at a time through shared
// memory, so that neighbouring threads read along the shorter stride of the source and still write vectors; the 65th
// column keeps the banks apart. The next elements are read while these are written.
#include "config.cuh"
#include "ptx.cuh"
#include "vector.cuh"

constexpr int SIDE = 64, THREADS = 256, STEP = THREADS / SIDE;
constexpr int WIDTH = 16 / sizeof(Acc), VECTORS = SIDE / WIDTH;  // elements per vector, vectors per row
constexpr int READS = SIDE / STEP, WRITES = READS / WIDTH;     // per thread

// The word that begins at an element of A (of B); this many columns and terms are left.
template <class Words, class E>
__device__ Acc word_at(const E* from, bool is_b, long long side_stride, long long k_stride, int sides, int terms)
{
    if constexpr (COLUMNS == 2) {
        const unsigned low = Words::half(*from);
        if (!is_b) return Words::word(low, low);
        return Words::word(low, sides > 1 ? Words::half(from[side_stride]) : Words::absent());
    } else if constexpr (TERMS == 32) {
        unsigned word = 0;
        if (k_stride == 1 && terms >= TERMS && reinterpret_cast<unsigned long long>(from) % 16 == 0) {
            const unsigned* bytes = reinterpret_cast<const unsigned*>(from);
#pragma unroll
            for (int t = 0; t < TERMS; t += 16) {
                const auto four = load_vector<4>(bytes + t / 4);
#pragma unroll
                for (int w = 0; w < 4; ++w) word |= Words::gather(four[w]) << (t + 4 * w);
            }
            return word;
        }
#pragma unroll
        for (int t = 0; t < TERMS; ++t)
            if (t < terms && from[t * k_stride]) word |= 1u << t;
        return word;
    } else {
        return Words::operand(Words::widen(*from));
    }
}

// Where elements are looked at: makes zeros positive, and says whether the program for plain elements is not for this one.
template <class Words> __device__ bool is_odd(Acc& x)
{
    if constexpr (LOOKS) {
        x += 0;
        return !Words::is_plain(x);
    }
    return false;
}

struct Operand {
    const T* source;
    Acc* copy;
    int side, pitch;  // rows of A (columns of B), and words of the copy: a multiple of SIDE, or 0 for an operand that stays as it is
    int columns;      // rows of A (columns of B) of a word
    long long side_stride, k_stride;
};

extern "C" __global__ void __launch_bounds__(THREADS, 3)
pack(const T* A, const T* B, Acc* packed_a, Acc* packed_b, int M, int N, int K, int pitch_a, int pitch_b,
     long long a_row, long long a_col, long long b_row, long long b_col, int* found)
{
    __shared__ Acc tile[SIDE][SIDE + 1];
    wait_for_previous_kernel();
    let_next_kernel_start();
    const int parts_a = pitch_a / SIDE, parts = parts_a + pitch_b / SIDE;
    constexpr int STRIP = SIDE * TERMS;  // terms of a part
    const int all = (K + STRIP - 1) / STRIP * parts;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    auto operand = [&](int p) {
        return p < parts_a ? Operand{A, packed_a, M, pitch_a, 1, a_row, a_col} : Operand{B, packed_b, N, pitch_b, COLUMNS, b_col, b_row};
    };

    Acc value[READS];
    bool odd = false;
    auto read = [&](int part) {
        const int p = part % parts;
        const Operand from = operand(p);
        const int first_k = part / parts * STRIP, first = (p < parts_a ? p : p - parts_a) * SIDE * from.columns;
        const bool along_k = from.k_stride == 1;
        const int k = first_k + (along_k ? x : y) * TERMS, side = first + (along_k ? y : x) * from.columns;
        const T* source = from.source + k * from.k_stride + side * from.side_stride;
        const int k_step = along_k ? 0 : STEP * TERMS, side_step = along_k ? STEP * from.columns : 0;
        const long long step = along_k ? side_step * from.side_stride : k_step * from.k_stride;
        const int k_left = K - k, side_left = from.side - side;
#pragma unroll
        for (int i = 0; i < READS; ++i) {
            const int terms = k_left - i * k_step, sides = side_left - i * side_step;
            const bool inside = terms > 0 && sides > 0;
            value[i] = inside ? word_at<S>(source + i * step, p >= parts_a, from.side_stride, from.k_stride, sides, terms) : S::zero();
            if (inside) odd |= is_odd<S>(value[i]);
        }
    };

    int part = blockIdx.x;
    if (part < all) read(part);
    for (; part < all; part += gridDim.x) {
        const int strip = part / parts, p = part % parts;
        const Operand to = operand(p);
        const bool along_k = to.k_stride == 1;
#pragma unroll
        for (int i = 0; i < READS; ++i) tile[along_k ? x : y + i * STEP][along_k ? y + i * STEP : x] = value[i];
        __syncthreads();
        if (part + gridDim.x < all) read(part + gridDim.x);
        Acc* copy = to.copy + strip * SIDE * (long long)to.pitch + (p < parts_a ? p : p - parts_a) * SIDE;
#pragma unroll
        for (int i = 0; i < WRITES; ++i) {
            const int v = threadIdx.x + i * THREADS, row = v / VECTORS, column = v % VECTORS * WIDTH;
            Vector<Acc, WIDTH> out;
#pragma unroll
            for (int w = 0; w < WIDTH; ++w) out[w] = tile[row][column + w];
            store_vector(&copy[row * (long long)to.pitch + column], out);
        }
        __syncthreads();
    }
    if constexpr (LOOKS) {
        odd = __syncthreads_or(odd);
        if (threadIdx.x == 0) found[blockIdx.x] = odd;
    }
}
