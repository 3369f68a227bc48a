// device-symbol: a variable of the module, in global memory, that the host sets by name.
//
// It lives as long as the module and needs no argument; the host asks the module for its address.
#include "config.cuh"

__device__ T FACTOR;

extern "C" __global__ void device_symbol(const T* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[i] * FACTOR;
}
