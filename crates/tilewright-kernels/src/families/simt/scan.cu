// scan: looks at A and B before they are packed, for whether their numbers lie close together: each block says what it has seen of A, and then
// of B.
//
// A warp reads a few vectors of neighbouring elements at a time, along the shorter stride. It stops as soon as it has seen too much, which
// random floats are at once.
#include "config.cuh"
#include "ptx.cuh"

constexpr int THREADS = 512, AT_ONCE = 8, CHUNK = 32 * AT_ONCE;

// Rows of A (columns of B) and terms, and the strides from one to the next.
struct Matrix {
    const T* first;
    int sides, terms;
    long long side_stride, k_stride, batch_stride;
};

extern "C" __global__ void __launch_bounds__(THREADS, 2)
scan(const T* A, const T* B, Window* windows, int M, int N, int K, long long a_row, long long a_col, long long b_row, long long b_col,
     long long a_batch, long long b_batch, int batches)
{
    wait_for_previous_kernel();
    let_next_kernel_start();
    const int lane = threadIdx.x % 32;
    const long long warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, warps = gridDim.x * (THREADS / 32);
    bool goes_on = true;
    for (int operand = 0; operand < 2; ++operand) {
        const Matrix from = operand == 0 ? Matrix{A, M, K, a_row, a_col, a_batch} : Matrix{B, N, K, b_col, b_row, b_batch};
        const bool along_k = llabs(from.k_stride) <= llabs(from.side_stride);
        const long long lines = along_k ? from.sides : from.terms, line_stride = along_k ? from.side_stride : from.k_stride;
        const long long stride = along_k ? from.k_stride : from.side_stride;
        const int length = along_k ? from.terms : from.sides, chunks = (length + CHUNK - 1) / CHUNK;
        const long long all = lines * chunks * (from.batch_stride == 0 ? 1 : batches);
        Window seen = Window::nothing();
        for (long long at = warp; goes_on && at < all; at += warps) {
            const long long line = at / chunks;
            const int begin = int(at % chunks) * CHUNK + lane;
            const T* element = from.first + line / lines * from.batch_stride + line % lines * line_stride + begin * stride;
            T x[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) x[i] = begin + i * 32 < length ? element[i * 32 * stride] : T(0);
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i)
                if (begin + i * 32 < length) Distances<R>::see(seen, x[i]);
            const bool fits = !seen.outside && seen.span() < LARGEST;
            goes_on = __all_sync(~0u, fits);
        }
        seen = joined_by_block<THREADS>(seen);
        goes_on = !seen.outside && seen.span() < LARGEST;
        if (threadIdx.x == 0) windows[operand * gridDim.x + blockIdx.x] = seen;
    }
}
