// pack: copies A, B or both as a kernel wants to read them: k by k, with neighbouring rows of A (columns of B) beside each
// other, in words as sums have them, filled up with the semiring's zero to whole tiles. A word holds a number, COLUMNS columns of B and
// a row of A as often, or TERMS terms. With LOOKS each block says which programs what it found excludes. With TURN it copies where the data
// have not excluded this launch already.
//
// Such copies need no guards, and are read in vectors. Blocks that stay move 64 x 64 elements at a time through shared
// memory, so that neighbouring threads read along the shorter stride of the source and still write vectors; the 65th
// column keeps the banks apart. The next elements are read while these are written.
#include "config.cuh"
#include "coded.cuh"
#include "ptx.cuh"
#include "turn.cuh"
#include "vector.cuh"

constexpr int SIDE = 64, THREADS = 256, STEP = THREADS / SIDE;
constexpr int WIDTH = 16 / sizeof(Acc), VECTORS = SIDE / WIDTH;  // elements per vector, vectors per row
constexpr int READS = SIDE / STEP, WRITES = READS / WIDTH;     // per thread

// The word that begins at an element of A (of B); this many columns and terms are left.
template <class Words, class E, class Code>
__device__ Acc word_at(const E* from, bool is_b, long long side_stride, long long k_stride, int sides, int terms, Code code)
{
    if constexpr (COLUMNS == 2) {
        const unsigned low = Coded<Words>::half(*from, code);
        if (!is_b) return Words::word(low, low);
        return Words::word(low, sides > 1 ? Coded<Words>::half(from[side_stride], code) : Words::absent());
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
        return Coded<Words>::word(*from, code);
    }
}

// Where elements are looked at: makes zeros positive, and says which programs are not for this one.
template <class Words> __device__ int excluded_by(Acc& x)
{
    if constexpr (LOOKS) {
        x += 0;
        return Words::excludes(x);
    }
    return 0;
}

struct Operand {
    const T* source;
    Acc* copy;
    int side, pitch;  // rows of A (columns of B), and words of the copy: a multiple of SIDE, or 0 for an operand that stays as it is
    int columns;      // rows of A (columns of B) of a word
    long long side_stride, k_stride;
    long long batch_stride, copy_stride;  // to the same operand of the next product; 0 to the copy of one that all products have
};

// A part of an operand: SIDE words, and as many terms of words.
struct Part {
    Operand operand;
    bool is_b;
    int side, strip, batch;
};

extern "C" __global__ void __launch_bounds__(THREADS, COLUMNS == 2 ? 2 : Coded<S>::PACKERS)
pack(const T* A, const T* B, Acc* packed_a, Acc* packed_b, int M, int N, int K, int pitch_a, int pitch_b,
     long long a_row, long long a_col, long long b_row, long long b_col, long long a_batch, long long b_batch,
     long long packed_a_batch, long long packed_b_batch, int batches, int* found, int* decision, const void* seen, int scanners, int earlier,
     int own)
{
    __shared__ Acc tile[SIDE][SIDE + 1];
    wait_for_previous_kernel();
    let_next_kernel_start();
    __shared__ typename Coded<S>::Code codes[2];
    int excluded = 0;
    if constexpr (TURN) {
        excluded = Coded<S>::decide(decision, seen, scanners, codes);
        if (!is_turn(excluded, earlier, own)) {
            if (LOOKS && threadIdx.x == 0) found[blockIdx.x] = excluded;
            return;
        }
    }
    constexpr int STRIP = SIDE * TERMS;  // terms of a part
    const int strips = (K + STRIP - 1) / STRIP;
    // Parts of the A of one product after another, and then those of B.
    const int all_a = pitch_a / SIDE * strips * (packed_a_batch == 0 ? 1 : batches);
    const int all = all_a + pitch_b / SIDE * strips * (packed_b_batch == 0 ? 1 : batches);
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    auto part_at = [&](int index) {
        const bool is_b = index >= all_a;
        const Operand operand = is_b ? Operand{B, packed_b, N, pitch_b, COLUMNS, b_col, b_row, b_batch, packed_b_batch}
                                     : Operand{A, packed_a, M, pitch_a, 1, a_row, a_col, a_batch, packed_a_batch};
        const int at = is_b ? index - all_a : index, sides = operand.pitch / SIDE;
        return Part{operand, is_b, at % sides * SIDE, at / sides % strips, at / sides / strips};
    };

    Acc value[READS];
    auto read = [&](int index) {
        const Part part = part_at(index);
        const Operand& from = part.operand;
        const bool along_k = from.k_stride == 1;
        const int k = part.strip * STRIP + (along_k ? x : y) * TERMS, side = (part.side + (along_k ? y : x)) * from.columns;
        const T* source = from.source + part.batch * from.batch_stride + k * from.k_stride + side * from.side_stride;
        const int k_step = along_k ? 0 : STEP * TERMS, side_step = along_k ? STEP * from.columns : 0;
        const long long step = along_k ? side_step * from.side_stride : k_step * from.k_stride;
        const int k_left = K - k, side_left = from.side - side;
#pragma unroll
        for (int i = 0; i < READS; ++i) {
            const int terms = k_left - i * k_step, sides = side_left - i * side_step;
            const bool inside = terms > 0 && sides > 0;
            value[i] = inside ? word_at<S>(source + i * step, part.is_b, from.side_stride, from.k_stride, sides, terms, codes[part.is_b])
                              : Coded<S>::padding();
            if (inside) excluded |= excluded_by<S>(value[i]);
        }
    };

    int index = blockIdx.x;
    if (index < all) read(index);
    for (; index < all; index += gridDim.x) {
        const Part part = part_at(index);
        const Operand& to = part.operand;
        const bool along_k = to.k_stride == 1;
#pragma unroll
        for (int i = 0; i < READS; ++i) tile[along_k ? x : y + i * STEP][along_k ? y + i * STEP : x] = value[i];
        __syncthreads();
        if (index + gridDim.x < all) read(index + gridDim.x);
        Acc* copy = to.copy + part.batch * to.copy_stride + part.strip * SIDE * (long long)to.pitch + part.side;
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
        excluded = excluded_by_block(excluded);
        if (threadIdx.x == 0) found[blockIdx.x] = excluded;
    }
}
