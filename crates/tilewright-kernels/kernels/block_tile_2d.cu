// block-tile-2d: a thread computes a square of SIDE x SIDE elements of C.
//
// Per step of k it reads SIDE elements of A and SIDE of B into registers and uses each SIDE times: 16 reads for 64
// multiplications with SIDE = 8. The larger tile, 128 x 128, also halves the traffic from global memory.
// M, N and K are multiples of the tile.
#include "config.cuh"

constexpr int THREADS = TILE_M / SIDE * (TILE_N / SIDE);

extern "C" __global__ void __launch_bounds__(THREADS, 2)
block_tile_2d(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
              T beta)
{
    __shared__ T As[TILE_M][TILE_K];
    __shared__ T Bs[TILE_K][TILE_N];

    const int thread = threadIdx.x;
    const int row = blockIdx.y * TILE_M, col = blockIdx.x * TILE_N;
    const int my_row = thread / (TILE_N / SIDE) * SIDE, my_col = thread % (TILE_N / SIDE) * SIDE;

    T sum[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) sum[i][j] = S::zero();

    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        for (int e = thread; e < TILE_M * TILE_K; e += THREADS)
            As[e / TILE_K][e % TILE_K] = A[(row + e / TILE_K) * lda + k0 + e % TILE_K];
        for (int e = thread; e < TILE_K * TILE_N; e += THREADS)
            Bs[e / TILE_N][e % TILE_N] = B[(k0 + e / TILE_N) * ldb + col + e % TILE_N];
        __syncthreads();
        for (int k = 0; k < TILE_K; ++k) {
            T a[SIDE], b[SIDE];
            for (int i = 0; i < SIDE; ++i) a[i] = As[my_row + i][k];
            for (int j = 0; j < SIDE; ++j) b[j] = Bs[k][my_col + j];
            for (int i = 0; i < SIDE; ++i)
                for (int j = 0; j < SIDE; ++j) sum[i][j] = S::multiply_add(a[i], b[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j)
            update<S>(&C[(row + my_row + i) * ldc + col + my_col + j], sum[i][j], alpha, beta);
}
