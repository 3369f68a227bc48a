// single-block: one block copies all of A and all of B to shared memory and computes C from there.
//
// The first thing to try with shared memory, and enough for tiny products: one thread per element of C, so at most 1024
// of them, and operands that fit together into the shared memory of one block. The rest of the GPU is idle.
#include "config.cuh"

extern "C" __global__ void __launch_bounds__(1024)
single_block(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
             T beta)
{
    extern __shared__ T shared[];
    T* As = shared;          // M x K
    T* Bs = shared + M * K;  // K x N

    const int threads = blockDim.x * blockDim.y;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = thread; i < M * K; i += threads) As[i] = A[i / K * lda + i % K];
    for (int i = thread; i < K * N; i += threads) Bs[i] = B[i / N * ldb + i % N];
    __syncthreads();

    const int row = threadIdx.y, col = threadIdx.x;
    T sum = S::zero();
    for (int k = 0; k < K; ++k) sum = S::multiply_add(As[row * K + k], Bs[k * N + col], sum);
    update<S>(&C[row * ldc + col], sum, alpha, beta);
}
