// warp-reduce: the sum over the lanes of a warp in five steps, without memory and without a barrier.
//
// In each step every lane adds the value of the lane whose number differs in one bit; in the end all know the sum.
#include "config.cuh"

extern "C" __global__ void warp_reduce(const T* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = i < n ? input[i] : T(0);
    for (int bit = 16; bit > 0; bit /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, bit);
    if (i < n && i % 32 == 0) output[i / 32] = sum;
}
