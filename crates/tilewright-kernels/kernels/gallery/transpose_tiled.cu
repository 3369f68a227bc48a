// transpose-tiled: a tile goes through shared memory, so that reads and writes are both coalesced.
//
// Reading a column of the tile takes all 32 lanes to the same bank, 32 wavefronts where one would do.
#include "config.cuh"

extern "C" __global__ void transpose_tiled(const T* input, T* output, int n)
{
    __shared__ T tile[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 32, col = blockIdx.x * 32;
    if (row + y < n && col + x < n) tile[y][x] = input[(long long)(row + y) * n + col + x];
    __syncthreads();
    if (col + y < n && row + x < n) output[(long long)(col + y) * n + row + x] = tile[x][y];
}
