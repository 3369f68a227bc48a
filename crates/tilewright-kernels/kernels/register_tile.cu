// register-tile: a thread computes 8 x 8 elements of C and keeps them in registers; no shared memory.
//
// Per step of k it loads 8 elements of A and 8 of B and uses each 8 times: 16 loads for 64 multiplications, where
// `coalesced` needs 128. A thread's rows and columns are 8 apart, so that the 8 threads beside each other read
// neighbours. `pack` has transposed A, and filled both operands up to multiples of the tile.
#include "config.cuh"

constexpr int SIDE = 8;          // threads of a block along each axis, and outputs of a thread along each axis
constexpr int TILE = SIDE * SIDE;  // rows and columns of C per block

extern "C" __global__ void __launch_bounds__(SIDE* SIDE)
register_tile(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
              T beta)
{
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;

    T sum[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) sum[i][j] = S::zero();

    for (int k = 0; k < K; ++k) {
        T a[SIDE], b[SIDE];
        for (int i = 0; i < SIDE; ++i) a[i] = A[k * lda + row + i * SIDE];
        for (int j = 0; j < SIDE; ++j) b[j] = B[k * ldb + col + j * SIDE];
        for (int i = 0; i < SIDE; ++i)
            for (int j = 0; j < SIDE; ++j) sum[i][j] = S::multiply_add(a[i], b[j], sum[i][j]);
    }
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j)
            if (row + i * SIDE < M && col + j * SIDE < N)
                update<S>(&C[(row + i * SIDE) * ldc + col + j * SIDE], sum[i][j], alpha, beta);
}
