// transpose-padded: `transpose-tiled` with rows of 33 words.
//
// Elements of a column are then 33 words apart, each in another of the 32 banks: no conflict in either direction.
#include "config.cuh"

extern "C" __global__ void transpose_padded(const T* input, T* output, int n)
{
    __shared__ T tile[32][33];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 32, col = blockIdx.x * 32;
    if (row + y < n && col + x < n) tile[y][x] = input[(long long)(row + y) * n + col + x];
    __syncthreads();
    if (col + y < n && row + x < n) output[(long long)(col + y) * n + row + x] = tile[x][y];
}
