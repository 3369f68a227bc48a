// pad: copies a strided matrix into a row-major one of a larger size and fills the rest with the semiring's zero.
//
// With the strides exchanged it transposes. A kernel that reads the copy needs no guards and finds neighbours where it
// wants them. A block moves 32 x 32 elements through shared memory, so that neighbouring threads read along the shorter
// stride of the source and still write along the rows of the copy; the 33rd column keeps the banks apart.
#include "config.cuh"

constexpr int SIDE = 32, ROWS_AT_ONCE = 8;

extern "C" __global__ void __launch_bounds__(SIDE* ROWS_AT_ONCE)
pad(const T* source, T* copy, int rows, int cols, long long row_stride, long long col_stride, int copy_cols)
{
    __shared__ T tile[SIDE][SIDE + 1];
    const int x = threadIdx.x;
    const int first_row = blockIdx.y * SIDE, first_col = blockIdx.x * SIDE;
    const bool along_columns = row_stride == 1;

    for (int y = threadIdx.y; y < SIDE; y += ROWS_AT_ONCE) {
        const int r = along_columns ? x : y, c = along_columns ? y : x;
        const int row = first_row + r, col = first_col + c;
        const bool inside = row < rows && col < cols;
        tile[r][c] = inside ? source[row * row_stride + col * col_stride] : S::zero();
    }
    __syncthreads();
    for (int y = threadIdx.y; y < SIDE; y += ROWS_AT_ONCE) {
        copy[(first_row + y) * (long long)copy_cols + first_col + x] = tile[y][x];
    }
}
