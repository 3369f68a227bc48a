// constant-uniform: all lanes of a warp read the same element of constant memory.
//
// What constant memory is made for: one word from its cache, broadcast to the warp.
#include "config.cuh"

__constant__ T TABLE[256];

extern "C" __global__ void constant_uniform(const T* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[i] * TABLE[blockIdx.x % 256];
}
