// constant-divergent: every lane of a warp reads another element of constant memory.
//
// The constant cache serves one address at a time: 32 lanes with 32 addresses wait for 32 accesses.
#include "config.cuh"

__constant__ T TABLE[256];

extern "C" __global__ void constant_divergent(const T* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[i] * TABLE[threadIdx.x % 256];
}
