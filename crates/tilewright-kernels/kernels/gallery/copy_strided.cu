// copy-strided: a copy that reads every STRIDE-th element.
//
// With a stride of 2 half of every sector is wasted; from 8 on every lane pays for a whole sector of 32 bytes.
#include "config.cuh"

extern "C" __global__ void copy_strided(const T* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[(long long)i * STRIDE];
}
