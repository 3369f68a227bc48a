// transpose-naive: every thread moves one element; reads are coalesced, writes are not.
//
// A warp reads 32 elements of a row and writes them to 32 rows: 4 sectors in, 32 sectors out.
#include "config.cuh"

extern "C" __global__ void transpose_naive(const T* input, T* output, int n)
{
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 32 + threadIdx.y;
    if (row < n && col < n) output[(long long)col * n + row] = input[(long long)row * n + col];
}
