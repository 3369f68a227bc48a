// pitched-rows: a matrix whose rows start PITCH elements apart, read by a warp per row.
//
// Rows of 33 elements without a gap start at any offset within a sector; a pitch that is a multiple of 8 elements makes
// every row start at a sector again.
#include "config.cuh"

extern "C" __global__ void pitched_rows(const T* input, T* output, int rows)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    for (int col = threadIdx.x; col < WIDTH; col += 32)
        output[(long long)row * WIDTH + col] = input[(long long)row * PITCH + col];
}
