// block-tile-1d: a thread computes a column of ROWS elements of C instead of one.
//
// `shared-tile` reads two words of shared memory per multiplication and is bound by that. Here a thread reads one element
// of B and uses it for ROWS rows: 1 + ROWS reads for ROWS multiplications. M, N and K are multiples of the tile.
#include "config.cuh"

constexpr int THREADS = TILE_M / ROWS * TILE_N;
static_assert(TILE_M * TILE_K == THREADS && TILE_K * TILE_N == THREADS, "a thread loads one element of each operand");

extern "C" __global__ void __launch_bounds__(THREADS)
block_tile_1d(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
              T beta)
{
    __shared__ T As[TILE_M][TILE_K];
    __shared__ T Bs[TILE_K][TILE_N];

    const int thread = threadIdx.x;
    const int row = blockIdx.y * TILE_M, col = blockIdx.x * TILE_N;
    const int a_row = thread / TILE_K, a_col = thread % TILE_K;
    const int b_row = thread / TILE_N, b_col = thread % TILE_N;
    const int my_row = thread / TILE_N * ROWS, my_col = thread % TILE_N;

    T sum[ROWS];
    for (int i = 0; i < ROWS; ++i) sum[i] = S::zero();

    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        As[a_row][a_col] = A[(row + a_row) * lda + k0 + a_col];
        Bs[b_row][b_col] = B[(k0 + b_row) * ldb + col + b_col];
        __syncthreads();
        for (int k = 0; k < TILE_K; ++k) {
            const T b = Bs[k][my_col];
            for (int i = 0; i < ROWS; ++i) sum[i] = S::multiply_add(As[my_row + i][k], b, sum[i]);
        }
        __syncthreads();
    }
    for (int i = 0; i < ROWS; ++i) {
        update<S>(&C[(row + my_row + i) * ldc + col + my_col], sum[i], alpha, beta);
    }
}
