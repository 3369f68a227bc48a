// shared-tile-dynamic: the side of the tile is chosen at run time.
//
// The host asks which block size gives the best occupancy, rounds it down to a power of four so that its root is a power
// of two, and writes the root to constant memory, where every thread reads it in one broadcast. Shared memory is then
// sized by the launch: one linear allocation, split in two by hand, with row and column folded into one index.
#include "config.cuh"

__constant__ int SIDE;

extern "C" __global__ void __launch_bounds__(1024)
shared_tile_dynamic(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc,
                    T alpha, T beta)
{
    extern __shared__ T shared[];
    T* As = shared;
    T* Bs = shared + SIDE * SIDE;

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * SIDE + y;
    const int col = blockIdx.x * SIDE + x;

    T sum = S::zero();
    for (int k0 = 0; k0 < K; k0 += SIDE) {
        As[y * SIDE + x] = row < M && k0 + x < K ? A[row * lda + k0 + x] : S::zero();
        Bs[y * SIDE + x] = k0 + y < K && col < N ? B[(k0 + y) * ldb + col] : S::zero();
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) sum = S::multiply_add(As[y * SIDE + k], Bs[k * SIDE + x], sum);
        __syncthreads();
    }
    if (row < M && col < N) update<S>(&C[row * ldc + col], sum, alpha, beta);
}
