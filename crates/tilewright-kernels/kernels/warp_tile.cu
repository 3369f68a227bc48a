// warp-tile: every warp owns a tile of the block's tile, and loads run ahead of the arithmetic in registers.
//
// The 32 lanes of a warp stand in 4 rows and 8 columns, and a lane's 8 x 8 outputs are four 4 x 4 squares half a warp tile
// apart: a warp then reads 8 neighbouring vectors of B and 4 of A, without bank conflicts. While it computes with one
// step of k, the next step's operands are on their way from shared memory; while it computes with one tile, the next
// tile is on its way from global memory to registers and then to the other half of shared memory: one barrier a tile.
// M, N and K are multiples of the tile; rows start at multiples of four elements.
#include "config.cuh"
#include "vector.cuh"

constexpr int WIDTH = 16 / sizeof(T);  // elements per access
constexpr int LANES_M = 4, LANES_N = 8;
constexpr int SQUARES = 2;  // squares of WIDTH x WIDTH per thread, along each axis
constexpr int SIDE = SQUARES * WIDTH;
constexpr int WARP_M = LANES_M * SIDE, WARP_N = LANES_N * SIDE;
constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
constexpr int LOADS_A = TILE_M * TILE_K / (THREADS * WIDTH), LOADS_B = TILE_K * TILE_N / (THREADS * WIDTH);
// A column of padding, one vector wide, spreads the transposing stores over the banks.
constexpr int PITCH_A = TILE_M + WIDTH;

using V = Vector<T, WIDTH>;

extern "C" __global__ void __launch_bounds__(THREADS, 2)
warp_tile(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
          T beta)
{
    __shared__ alignas(16) T At[2][TILE_K][PITCH_A];
    __shared__ alignas(16) T Bs[2][TILE_K][TILE_N];

    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int row = blockIdx.y * TILE_M, col = blockIdx.x * TILE_N;
    const int my_row = warp / (TILE_N / WARP_N) * WARP_M + lane / LANES_N * WIDTH;
    const int my_col = warp % (TILE_N / WARP_N) * WARP_N + lane % LANES_N * WIDTH;

    V next_a[LOADS_A], next_b[LOADS_B];  // the next tile, between global and shared memory
    auto fetch_tile = [&](int k0) {
        for (int l = 0; l < LOADS_A; ++l) {
            const int e = (thread + l * THREADS) * WIDTH;
            next_a[l] = load_vector<WIDTH>(&A[(row + e / TILE_K) * lda + k0 + e % TILE_K]);
        }
        for (int l = 0; l < LOADS_B; ++l) {
            const int e = (thread + l * THREADS) * WIDTH;
            next_b[l] = load_vector<WIDTH>(&B[(k0 + e / TILE_N) * ldb + col + e % TILE_N]);
        }
    };
    auto store_tile = [&](int half) {
        for (int l = 0; l < LOADS_A; ++l) {
            const int e = (thread + l * THREADS) * WIDTH;
            for (int w = 0; w < WIDTH; ++w) At[half][e % TILE_K + w][e / TILE_K] = next_a[l][w];
        }
        for (int l = 0; l < LOADS_B; ++l) {
            const int e = (thread + l * THREADS) * WIDTH;
            store_vector(&Bs[half][e / TILE_N][e % TILE_N], next_b[l]);
        }
    };
    V a[2][SQUARES], b[2][SQUARES];  // operands of this step of k and of the next
    auto fetch_step = [&](int half, int k) {
        for (int s = 0; s < SQUARES; ++s) {
            a[k % 2][s] = load_vector<WIDTH>(&At[half][k][my_row + s * LANES_M * WIDTH]);
            b[k % 2][s] = load_vector<WIDTH>(&Bs[half][k][my_col + s * LANES_N * WIDTH]);
        }
    };

    T sum[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) sum[i][j] = S::zero();

    if (K > 0) {
        fetch_tile(0);
        store_tile(0);
    }
    __syncthreads();
    for (int k0 = 0, half = 0; k0 < K; k0 += TILE_K, half ^= 1) {
        const bool last = k0 + TILE_K >= K;
        if (!last) fetch_tile(k0 + TILE_K);
        fetch_step(half, 0);
#pragma unroll  // so that k % 2 is known and both halves stay in registers
        for (int k = 0; k < TILE_K; ++k) {
            if (k + 1 < TILE_K) fetch_step(half, k + 1);
            for (int i = 0; i < SIDE; ++i)
                for (int j = 0; j < SIDE; ++j)
                    sum[i][j] = S::multiply_add(a[k % 2][i / WIDTH][i % WIDTH], b[k % 2][j / WIDTH][j % WIDTH],
                                                sum[i][j]);
        }
        if (!last) store_tile(half ^ 1);
        __syncthreads();
    }
    for (int i = 0; i < SIDE; ++i)
        for (int s = 0; s < SQUARES; ++s) {
            const int r = row + my_row + i / WIDTH * LANES_M * WIDTH + i % WIDTH;
            T* c = &C[r * ldc + col + my_col + s * LANES_N * WIDTH];
            V v = {};
            if (beta != S::zero()) v = load_vector<WIDTH>(c);
            for (int w = 0; w < WIDTH; ++w) update<S>(&v[w], sum[i][s * WIDTH + w], alpha, beta);
            store_vector(c, v);
        }
}
