// pack: copies A, B or both as a kernel wants to read them: k by k, with neighbouring rows of A (columns of B) beside each
// other, in the type that sums have, filled up with the semiring's zero to whole tiles.
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

struct Operand {
    const T* source;
    Acc* copy;
    int side, pitch;  // rows of A (columns of B), and those of the copy: a multiple of SIDE, or 0 for an operand that stays as it is
    long long side_stride, k_stride;
};

extern "C" __global__ void __launch_bounds__(THREADS, 3)
pack(const T* A, const T* B, Acc* packed_a, Acc* packed_b, int M, int N, int K, int pitch_a, int pitch_b,
     long long a_row, long long a_col, long long b_row, long long b_col)
{
    __shared__ Acc tile[SIDE][SIDE + 1];
    wait_for_previous_kernel();
    let_next_kernel_start();
    const int parts_a = pitch_a / SIDE, parts = parts_a + pitch_b / SIDE, all = (K + SIDE - 1) / SIDE * parts;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    auto operand = [&](int p) {
        return p < parts_a ? Operand{A, packed_a, M, pitch_a, a_row, a_col} : Operand{B, packed_b, N, pitch_b, b_col, b_row};
    };

    Acc value[READS];
    auto read = [&](int part) {
        const int p = part % parts;
        const Operand from = operand(p);
        const int first_k = part / parts * SIDE, first = (p < parts_a ? p : p - parts_a) * SIDE;
        const bool along_k = from.k_stride == 1;
        const T* source = from.source + (first_k + (along_k ? x : y)) * from.k_stride + (first + (along_k ? y : x)) * from.side_stride;
        const long long step = STEP * (along_k ? from.side_stride : from.k_stride);
        const int k_left = K - first_k - (along_k ? x : y), side_left = from.side - first - (along_k ? y : x);
#pragma unroll
        for (int i = 0; i < READS; ++i) {
            const bool inside = (along_k ? 0 : i * STEP) < k_left && (along_k ? i * STEP : 0) < side_left;
            value[i] = inside ? S::operand(S::widen(source[i * step])) : S::zero();
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
}
