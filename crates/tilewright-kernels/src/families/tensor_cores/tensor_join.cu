// tensor_join: adds up the parts of sums that a product was split into, in an order that depends on their number alone.
#include "config.cuh"
#include "ptx.cuh"
#include "result.cuh"

enum : int {
    THREADS = 256,
    // Columns of a thread.
    FOUR = 4,
    // Threads of a block that take other columns; there are GROUPS for each.
    PIECES = THREADS / GROUPS,
};

__device__ inline void add(Four& sum, const Four& more)
{
#pragma unroll
    for (int x = 0; x < FOUR; ++x) sum.x[x] = R::add(sum.x[x], more.x[x]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tensor_join(const Acc* sums, Out* C, long long row_stride, long long batch_stride, int m, int n, int batches, int parts, Acc alpha, Acc beta,
                const Out* bias, long long bias_row, long long bias_col)
{
    __shared__ Four shared[THREADS];
    let_next_kernel_start();
    wait_for_previous_kernel();
    const Result c = {C, row_stride, batch_stride, m, n, alpha, beta, {bias, bias_row, bias_col}};
    const int fours = (n + FOUR - 1) / FOUR, group = threadIdx.x / PIECES, mine = threadIdx.x % PIECES;
    const long long part = static_cast<long long>(m) * fours, count = part * batches, step = static_cast<long long>(gridDim.x) * PIECES;
    for (long long first = static_cast<long long>(blockIdx.x) * PIECES; first < count; first += step) {
        const long long i = first + mine, batch = i / part, place = i % part;
        Four sum = {};
        if (i < count) {
            // Every group has a part at least. Its loads do not wait for each other.
            const Four* from = reinterpret_cast<const Four*>(sums) + batch * parts * part + place;
            sum = from[group * part];
#pragma unroll 8
            for (int other = group + GROUPS; other < parts; other += GROUPS) add(sum, from[other * part]);
        }
        if constexpr (GROUPS > 1) {
            __syncthreads();
            shared[threadIdx.x] = sum;
            __syncthreads();
            if (group > 0) continue;
#pragma unroll
            for (int other = 1; other < GROUPS; ++other) add(sum, shared[other * PIECES + mine]);
        }
        if (i >= count) continue;
        const int row = int(place / fours), col = int(place % fours) * FOUR;
#pragma unroll
        for (int x = 0; x < FOUR && col + x < n; x += 2) {
            c.finish(sum.x[x], sum.x[x + 1], row, col + x, batch);
            c.write(sum.x[x], sum.x[x + 1], row, col + x, batch);
        }
    }
}
