// shared-stride: every lane reads shared memory STRIDE words after its neighbour.
//
// Banks repeat every 32 words, so gcd(STRIDE, 32) lanes meet in a bank: an odd stride is free, 32 is the worst.
#include "config.cuh"

extern "C" __global__ void shared_stride(const T* input, T* output)
{
    __shared__ T words[32 * STRIDE];
    for (int i = threadIdx.x; i < 32 * STRIDE; i += 32) words[i] = input[i];
    __syncthreads();
    output[threadIdx.x] = words[threadIdx.x * STRIDE];
}
