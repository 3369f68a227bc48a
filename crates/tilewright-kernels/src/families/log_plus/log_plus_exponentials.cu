// log-plus-exponentials: the factors of scaled sums, exp(A[i,k] - r[i]) and exp(B[k,j] - c[j]), packed term by term.
//
// r[i] is the largest element of row i of A, c[j] that of column j of B. What a subtraction loses goes into the exponential.
// A block packs SIDE lines and some tiles of SIDE terms of them. First it joins what is known of the parts of its lines; the block
// of the first terms writes that down: the largest element, and how far from it the smallest one above -inf is.
// Elements go through shared memory, so that neighbouring threads read along the shorter stride of the source and still write vectors.
#include "config.cuh"
#include "ptx.cuh"
#include "vector.cuh"

constexpr int SIDE = 64, THREADS = 256, STEP = THREADS / SIDE;
constexpr int WIDTH = 16 / sizeof(T), VECTORS = SIDE / WIDTH;  // elements per vector, vectors per row
constexpr int READS = SIDE / STEP, WRITES = READS / WIDTH;   // per thread

struct Operand {
    const T* source;
    const T* parts;
    T* scales;
    T* packed;
    int lines, first, pitch;  // lines in all, the first one of the packed ones, and elements of a packed term
    long long line_stride, k_stride, batch_stride;
    int batches;
};

extern "C" __global__ void __launch_bounds__(THREADS, 3)
log_plus_exponentials(const T* A, const T* B, const T* parts_a, const T* parts_b, T* scales_a, T* scales_b, T* packed_a, T* packed_b,
                      int M, int N, int K, int first_row, int first_col, int pitch_a, int pitch_b, int terms, long long a_row,
                      long long a_col, long long b_row, long long b_col, long long a_batch, long long b_batch, int batches_a,
                      int batches_b, int first_batch, int parts, int tiles)
{
    __shared__ T tile[SIDE][SIDE + 1], shift[SIDE];
    __shared__ Extremes<T> found[STEP][SIDE];
    wait_for_previous_kernel();
    let_next_kernel_start();
    const int groups_a = (pitch_a + SIDE - 1) / SIDE;
    const bool is_a = blockIdx.x < groups_a;
    const Operand o = is_a ? Operand{A, parts_a, scales_a, packed_a, M, first_row, pitch_a, a_row, a_col, a_batch, batches_a}
                           : Operand{B, parts_b, scales_b, packed_b, N, first_col, pitch_b, b_col, b_row, b_batch, batches_b};
    const int group = (is_a ? blockIdx.x : blockIdx.x - groups_a) * SIDE;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int left = min(o.lines - o.first, o.pitch) - group;  // lines from this block's first one on
    const bool along_k = abs(o.k_stride) < abs(o.line_stride);
    const int line = along_k ? y : x, term = along_k ? x : y;
    const int line_step = along_k ? STEP : 0, term_step = along_k ? 0 : STEP;
    const long long step = line_step * o.line_stride + term_step * o.k_stride;

    for (int batch = blockIdx.z; batch < o.batches; batch += gridDim.z) {
        Extremes<T> seen = Extremes<T>::none();
        if (x < left)
            for (int part = y; part < parts; part += STEP) {
                const T* from = o.parts + ((long long)batch * parts + part) * 2 * o.lines + o.first + group + x;
                seen.see(from[0], from[o.lines]);
            }
        found[y][x] = seen;
        __syncthreads();
        if (y == 0) {
            for (int s = 1; s < STEP; ++s) seen.see(found[s][x].best, found[s][x].least);
            shift[x] = seen.best == bottom<T>() ? T(0) : seen.best;
            if (blockIdx.y == 0 && x < left) {
                T* to = o.scales + (long long)batch * 2 * o.lines + o.first + group + x;
                to[0] = seen.best;
                // Infinite, or NaN, where the largest is; and nothing but -inf has no extent.
                to[o.lines] = seen.best == bottom<T>() ? T(0) : seen.best - seen.least;
            }
        }
        __syncthreads();

        const T* source = o.source + (first_batch + batch) * o.batch_stride + (o.first + group) * o.line_stride;
        T* packed = o.packed + (long long)batch * terms * o.pitch + group;
        for (int t = 0; t < tiles; ++t) {
            const int k0 = (blockIdx.y * tiles + t) * SIDE;
            if (k0 >= terms) break;
            const T* from = source + line * o.line_stride + (k0 + term) * o.k_stride;
            T value[READS];
#pragma unroll
            for (int i = 0; i < READS; ++i)
                value[i] = line + i * line_step < left && k0 + term + i * term_step < K ? from[i * step] : S::zero();
#pragma unroll
            for (int i = 0; i < READS; ++i) tile[term + i * term_step][line + i * line_step] = value[i];
            __syncthreads();
#pragma unroll 1
            for (int i = 0; i < WRITES; ++i) {
                const int v = threadIdx.x + i * THREADS, row = v / VECTORS, column = v % VECTORS * WIDTH;
                if (k0 + row >= terms || group + column >= o.pitch) continue;
                Vector<T, WIDTH> out;
#pragma unroll
                for (int w = 0; w < WIDTH; ++w) {
                    const Two<T> distance = S::two_sum(tile[row][column + w], -shift[column + w]);
                    out[w] = S::exponential(distance.high, distance.low);
                }
                store_vector(&packed[(k0 + row) * (long long)o.pitch + column], out);
            }
            __syncthreads();
        }
    }
}
