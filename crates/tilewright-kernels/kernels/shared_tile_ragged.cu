// shared-tile-ragged: `shared-tile` for any M, N and K, with a guard around every access.
//
// Tiles that stick out of A or B are filled with the semiring's zero, on both sides, so that the inner loop needs no
// guard: zero times zero adds nothing. No thread returns early, because all of them must reach the barriers.
#include "config.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK* BLOCK)
shared_tile_ragged(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc,
                   T alpha, T beta)
{
    __shared__ T As[BLOCK][BLOCK];
    __shared__ T Bs[BLOCK][BLOCK];

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * BLOCK + y;
    const int col = blockIdx.x * BLOCK + x;

    T sum = S::zero();
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        As[y][x] = row < M && k0 + x < K ? A[row * lda + k0 + x] : S::zero();
        Bs[y][x] = k0 + y < K && col < N ? B[(k0 + y) * ldb + col] : S::zero();
        __syncthreads();
        for (int k = 0; k < BLOCK; ++k) sum = S::multiply_add(As[y][k], Bs[k][x], sum);
        __syncthreads();
    }
    if (row < M && col < N) update<S>(&C[row * ldc + col], sum, alpha, beta);
}
