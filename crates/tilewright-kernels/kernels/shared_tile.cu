// shared-tile: a block copies a BLOCK x BLOCK tile of A and of B to shared memory, and every thread reads it from there.
//
// Each element is then read from global memory once per block instead of once per thread: BLOCK times less traffic.
// Two barriers a step: the first so that no thread reads an element before it is written, the second so that none
// overwrites an element that another still needs. M, N and K are multiples of BLOCK.
#include "config.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK* BLOCK)
shared_tile(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
            T beta)
{
    __shared__ T As[BLOCK][BLOCK];
    __shared__ T Bs[BLOCK][BLOCK];

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * BLOCK + y;
    const int col = blockIdx.x * BLOCK + x;

    T sum = S::zero();
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        As[y][x] = A[row * lda + k0 + x];
        Bs[y][x] = B[(k0 + y) * ldb + col];
        __syncthreads();
        // Lanes of a warp share y: As[y][k] is one word for all (a broadcast), Bs[k][x] one word from every bank.
        for (int k = 0; k < BLOCK; ++k) sum = S::multiply_add(As[y][k], Bs[k][x], sum);
        __syncthreads();
    }
    update<S>(&C[row * ldc + col], sum, alpha, beta);
}
