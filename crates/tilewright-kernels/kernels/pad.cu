// pad: copies a strided matrix into a row-major one of a larger size and fills the rest with the semiring's zero.
//
// With the strides exchanged it transposes. A kernel that reads the copy needs no guards and finds neighbours where it
// wants them. A block moves 64 x 64 elements through shared memory, so that neighbouring threads read along the shorter
// stride of the source and still write vectors along the rows of the copy; the 65th column keeps the banks apart. A
// thread has all its reads under way before it needs the first.
#include "config.cuh"
#include "ptx.cuh"
#include "vector.cuh"

constexpr int SIDE = 64, THREADS = 512, STEP = THREADS / SIDE;
constexpr int WIDTH = 16 / sizeof(T), VECTORS = SIDE / WIDTH;  // elements per vector, vectors per row
constexpr int READS = SIDE / STEP, WRITES = READS / WIDTH;     // per thread

extern "C" __global__ void __launch_bounds__(THREADS)
pad(const T* source, T* copy, int rows, int cols, long long row_stride, long long col_stride, int copy_rows, int copy_cols)
{
    __shared__ T tile[SIDE][SIDE + 1];
    let_next_kernel_start();
    wait_for_previous_kernel();
    const int first_row = blockIdx.y * SIDE, first_col = blockIdx.x * SIDE;
    const bool along_columns = row_stride == 1;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;

    T value[READS];
#pragma unroll
    for (int i = 0; i < READS; ++i) {
        const int r = along_columns ? x : y + i * STEP, c = along_columns ? y + i * STEP : x;
        const int row = first_row + r, col = first_col + c;
        value[i] = row < rows && col < cols ? source[row * row_stride + col * col_stride] : S::zero();
    }
#pragma unroll
    for (int i = 0; i < READS; ++i) {
        const int r = along_columns ? x : y + i * STEP, c = along_columns ? y + i * STEP : x;
        tile[r][c] = value[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < WRITES; ++i) {
        const int v = threadIdx.x + i * THREADS, r = v / VECTORS, c = v % VECTORS * WIDTH;
        Vector<T, WIDTH> out;
#pragma unroll
        for (int w = 0; w < WIDTH; ++w) out[w] = tile[r][c + w];
        if (first_row + r < copy_rows && first_col + c < copy_cols)
            store_vector(&copy[(first_row + r) * (long long)copy_cols + first_col + c], out);
    }
}
