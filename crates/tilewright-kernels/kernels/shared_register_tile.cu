// shared-register-tile: `register-tile` with the operands staged in shared memory, 4 steps of k at a time.
//
// The 64 threads of a block need the same 64 + 64 elements per step of k. They fetch them together, once, and each then
// reads its 8 + 8 from shared memory. Four steps between two barriers make the waiting rare.
#include "config.cuh"

constexpr int SIDE = 8;            // threads of a block along each axis, and outputs of a thread along each axis
constexpr int TILE = SIDE * SIDE;  // rows and columns of C per block, and threads
constexpr int STEPS = 4;           // steps of k between two barriers; `pack` makes K a multiple

extern "C" __global__ void __launch_bounds__(TILE)
shared_register_tile(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc,
                     T alpha, T beta)
{
    __shared__ T As[STEPS][TILE];
    __shared__ T Bs[STEPS][TILE];

    const int thread = threadIdx.y * SIDE + threadIdx.x;
    const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;

    T sum[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) sum[i][j] = S::zero();

    for (int k0 = 0; k0 < K; k0 += STEPS) {
        for (int k = 0; k < STEPS; ++k) {
            As[k][thread] = A[(k0 + k) * lda + row + thread];
            Bs[k][thread] = B[(k0 + k) * ldb + col + thread];
        }
        __syncthreads();
        for (int k = 0; k < STEPS; ++k) {
            T a[SIDE], b[SIDE];
            for (int i = 0; i < SIDE; ++i) a[i] = As[k][i * SIDE + threadIdx.y];
            for (int j = 0; j < SIDE; ++j) b[j] = Bs[k][j * SIDE + threadIdx.x];
            for (int i = 0; i < SIDE; ++i)
                for (int j = 0; j < SIDE; ++j) sum[i][j] = S::multiply_add(a[i], b[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) {
            const int r = row + i * SIDE + threadIdx.y, c = col + j * SIDE + threadIdx.x;
            if (r < M && c < N) update<S>(&C[r * ldc + c], sum[i][j], alpha, beta);
        }
}
