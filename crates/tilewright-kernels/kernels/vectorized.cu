// vectorized: `block-tile-2d` with accesses of 16 bytes.
//
// One instruction moves four elements, so a quarter of the instructions feed the same arithmetic. A is transposed on its
// way into shared memory, so that the elements a thread needs in one step of k lie beside each other there, too.
// M, N and K are multiples of the tile; rows start at multiples of four elements.
#include "config.cuh"
#include "vector.cuh"

constexpr int THREADS = TILE_M / SIDE * (TILE_N / SIDE);
constexpr int WIDTH = 16 / sizeof(T);

extern "C" __global__ void __launch_bounds__(THREADS, 2)
vectorized(const T* A, const T* B, T* C, int M, int N, int K, long long lda, long long ldb, long long ldc, T alpha,
           T beta)
{
    __shared__ alignas(16) T At[TILE_K][TILE_M];
    __shared__ alignas(16) T Bs[TILE_K][TILE_N];

    const int row = blockIdx.y * TILE_M, col = blockIdx.x * TILE_N;
    const int my_row = threadIdx.x / (TILE_N / SIDE) * SIDE, my_col = threadIdx.x % (TILE_N / SIDE) * SIDE;

    T sum[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) sum[i][j] = S::zero();

    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        for (int e = threadIdx.x * WIDTH; e < TILE_M * TILE_K; e += THREADS * WIDTH) {
            const int i = e / TILE_K, k = e % TILE_K;
            const auto v = load_vector<WIDTH>(&A[(row + i) * lda + k0 + k]);
            for (int w = 0; w < WIDTH; ++w) At[k + w][i] = v[w];
        }
        for (int e = threadIdx.x * WIDTH; e < TILE_K * TILE_N; e += THREADS * WIDTH) {
            const int k = e / TILE_N, j = e % TILE_N;
            store_vector(&Bs[k][j], load_vector<WIDTH>(&B[(k0 + k) * ldb + col + j]));
        }
        __syncthreads();
        for (int k = 0; k < TILE_K; ++k) {
            Vector<T, WIDTH> a[SIDE / WIDTH], b[SIDE / WIDTH];
            for (int v = 0; v < SIDE / WIDTH; ++v) {
                a[v] = load_vector<WIDTH>(&At[k][my_row + v * WIDTH]);
                b[v] = load_vector<WIDTH>(&Bs[k][my_col + v * WIDTH]);
            }
            for (int i = 0; i < SIDE; ++i)
                for (int j = 0; j < SIDE; ++j)
                    sum[i][j] = S::multiply_add(a[i / WIDTH][i % WIDTH], b[j / WIDTH][j % WIDTH], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; j += WIDTH) {
            T* c = &C[(row + my_row + i) * ldc + col + my_col + j];
            Vector<T, WIDTH> v = {};
            if (beta != S::zero()) v = load_vector<WIDTH>(c);
            for (int w = 0; w < WIDTH; ++w) update<S>(&v[w], sum[i][j + w], alpha, beta);
            store_vector(c, v);
        }
}
