// copy-offset: a copy whose source starts OFFSET elements after an aligned address.
//
// A warp reads 32 neighbouring elements, 128 bytes: four sectors if they start at a multiple of 32 bytes, five otherwise.
#include "config.cuh"

extern "C" __global__ void copy_offset(const T* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[i + OFFSET];
}
