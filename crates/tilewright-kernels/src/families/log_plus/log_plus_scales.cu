// log-plus-scales: the largest and the smallest element of rows of A and columns of B, in parts of their terms.
//
// A block looks at LINES lines. Neighbouring threads read along the shorter stride: along a line, or from line to line.
// For each product, part of the terms, and operand there are the largest elements of all lines, and then the smallest ones.
#include "config.cuh"
#include "ptx.cuh"

constexpr int LINES = 32, WARPS = 8, THREADS = 32 * WARPS;
constexpr int EACH = LINES / WARPS;  // lines of a warp that reads along them

struct Operand {
    const T* source;
    T* parts;
    int lines;
    long long line_stride, k_stride, batch_stride;
    int batches;
};

extern "C" __global__ void __launch_bounds__(THREADS)
log_plus_scales(const T* A, const T* B, T* parts_a, T* parts_b, int M, int N, int K, long long a_row, long long a_col, long long b_row,
                long long b_col, long long a_batch, long long b_batch, int batches_a, int batches_b, int first_batch, int k_part)
{
    __shared__ Extremes<T> found[WARPS][LINES];
    wait_for_previous_kernel();
    let_next_kernel_start();
    const int groups_a = (M + LINES - 1) / LINES;
    const bool is_a = blockIdx.x < groups_a;
    const Operand from = is_a ? Operand{A, parts_a, M, a_row, a_col, a_batch, batches_a} : Operand{B, parts_b, N, b_col, b_row, b_batch, batches_b};
    const int first = (is_a ? blockIdx.x : blockIdx.x - groups_a) * LINES;
    const int k0 = blockIdx.y * k_part, end = min(K - k0, k_part);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool along = abs(from.k_stride) < abs(from.line_stride);

    for (int batch = blockIdx.z; batch < from.batches; batch += gridDim.z) {
        const T* source = from.source + (first_batch + batch) * from.batch_stride + first * from.line_stride + k0 * from.k_stride;
        if (along) {
            Extremes<T> seen[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i) seen[i] = Extremes<T>::none();
#pragma unroll 2
            for (int k = lane; k < end; k += 32)
#pragma unroll
                for (int i = 0; i < EACH; ++i) {
                    const int line = warp * EACH + i;
                    if (first + line >= from.lines) continue;
                    const T x = source[line * from.line_stride + k * from.k_stride];
                    seen[i].see(x, x);
                }
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
#pragma unroll
                for (int step = 16; step > 0; step /= 2) {
                    const T best = __shfl_xor_sync(0xffffffff, seen[i].best, step), least = __shfl_xor_sync(0xffffffff, seen[i].least, step);
                    seen[i].see(best, least);
                }
                if (lane == 0) found[0][warp * EACH + i] = seen[i];
            }
        } else {
            Extremes<T> seen = Extremes<T>::none();
            if (first + lane < from.lines) {
#pragma unroll 8
                for (int k = warp; k < end; k += WARPS) {
                    const T x = source[lane * from.line_stride + k * from.k_stride];
                    seen.see(x, x);
                }
            }
            found[warp][lane] = seen;
        }
        __syncthreads();
        if (warp == 0 && first + lane < from.lines) {
            Extremes<T> all = found[0][lane];
            for (int w = 1; w < WARPS && !along; ++w) all.see(found[w][lane].best, found[w][lane].least);
            T* to = from.parts + ((long long)batch * gridDim.y + blockIdx.y) * 2 * from.lines + first + lane;
            to[0] = all.best;
            to[from.lines] = all.least;
        }
        __syncthreads();
    }
}
