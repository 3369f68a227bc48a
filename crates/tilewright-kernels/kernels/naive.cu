// naive: one thread computes one element of C, and neighbouring threads compute neighbouring ROWS.
//
// The 32 lanes of a warp then read 32 different rows of A, and write 32 different rows of C: each lane touches a
// 32-byte sector of its own and uses 4 bytes of it. Correct, and an order of magnitude slower than it has to be.
#include "config.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK* BLOCK)
naive(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha, T beta)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    const int col = blockIdx.y * BLOCK + threadIdx.y;
    if (row >= M || col >= N) return;

    T sum = S::zero();
    for (int k = 0; k < K; ++k) sum = S::multiply_add(A[row * lda + k], B[k * ldb + col], sum);
    update<S>(&C[row * ldc + col], sum, alpha, beta);
}
