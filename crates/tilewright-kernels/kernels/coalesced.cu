// coalesced: one thread computes one element of C, and neighbouring threads compute neighbouring COLUMNS.
//
// Only the roles of x and y are exchanged with `naive`. Now the 32 lanes of a warp read 32 neighbouring elements of B,
// four full sectors, and all of them the same element of A, one sector: the hardware coalesces both.
#include "config.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK* BLOCK)
coalesced(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
          T beta)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;

    T sum = S::zero();
    for (int k = 0; k < K; ++k) sum = S::multiply_add(A[row * lda + k], B[k * ldb + col], sum);
    update<S>(&C[row * ldc + col], sum, alpha, beta);
}
