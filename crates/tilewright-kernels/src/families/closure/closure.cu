// closure: the best paths inside a diagonal block of a matrix, in place, by Floyd and Warshall's loop.
//
// A thread keeps EACH x EACH elements in registers, LANES apart in both directions, so that every step has work for all
// threads. Row and column k go through shared memory; there are two of each, so that one barrier a step is enough. A step
// costs little more than that barrier, and there is one block: nothing is gained by more threads.
//
// Before vertex k takes part, the weight of the best cycle through it is looked at. One that makes paths better, and by
// more than roundings do, ends the kernel: its vertex, counted from 1, is told, and the block stays as it was.
#include "config.cuh"

constexpr int SIDE = 64, LANES = 16, EACH = SIDE / LANES;

__device__ inline bool is_gain(Acc cycle, double slack)
{
    return S::add(S::one(), cycle) != S::one() && fabs(double(cycle) - double(S::one())) > slack;
}

extern "C" __global__ void __launch_bounds__(LANES * LANES)
closure(T* D, int N, long long d_row, long long d_col, double slack, int* gain)
{
    __shared__ Acc row[2][SIDE], column[2][SIDE], cycle[2];
    const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;

    Acc d[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int r = y + i * LANES, c = x + j * LANES;
            d[i][j] = r < N && c < N ? S::widen(D[r * d_row + c * d_col]) : S::zero();
        }

#pragma unroll  // so that registers are named by constants
    for (int u = 0; u < EACH; ++u)
        for (int t = 0; t < LANES && u * LANES + t < N; ++t) {
            const int k = u * LANES + t, here = k % 2;
            if (x == t && y == t) {
                cycle[here] = d[u][u];
                d[u][u] = S::one();
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                if (y == t) row[here][x + i * LANES] = d[u][i];
                if (x == t) column[here][y + i * LANES] = d[i][u];
            }
            __syncthreads();
            if (is_gain(cycle[here], slack)) {
                if (threadIdx.x == 0) *gain = k + 1;
                return;
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i)
#pragma unroll
                for (int j = 0; j < EACH; ++j)
                    d[i][j] = S::multiply_add(column[here][y + i * LANES], row[here][x + j * LANES], d[i][j]);
        }

#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int r = y + i * LANES, c = x + j * LANES;
            if (r < N && c < N) D[r * d_row + c * d_col] = S::template narrow<T>(d[i][j]);
        }
}
