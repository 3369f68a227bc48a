// wgmma_join: adds up the parts of sums that a product was split into, in their order.
#include "config.cuh"
#include "epilogue.cuh"

// Columns of a thread.
enum : int { FOUR = 4 };

extern "C" __global__ void __launch_bounds__(256)
    wgmma_join(const float* sums, T* C, long long row_stride, long long batch_stride, int m, int n, int batches, int parts, float alpha, float beta)
{
    let_next_kernel_start();
    wait_for_previous_kernel();
    const int fours = (n + FOUR - 1) / FOUR;
    const long long part = static_cast<long long>(m) * fours, count = part * batches, threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const long long batch = i / part, place = i % part;
        const float4* from = reinterpret_cast<const float4*>(sums) + batch * parts * part + place;
        float4 sum = from[0];
        for (int other = 1; other < parts; ++other) {
            const float4 more = from[other * part];
            sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
        }
        const int row = int(place / fours), col = int(place % fours) * FOUR;
        T* to = C + batch * batch_stride + row * row_stride + col;
        const float all[FOUR] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
        for (int x = 0; x < FOUR; ++x) {
            if (col + x >= n) break;
            float result = alpha * all[x];
            if (beta != 0) result += beta * convert<float>(to[x]);
            to[x] = convert<T>(result);
        }
    }
}
