// atomics-shared: the histogram of `atomics-global`, counted per block in shared memory first.
//
// Threads of a block meet in shared memory, close by; global memory sees one addition per block and bin.
#include "config.cuh"

extern "C" __global__ void atomics_shared(T* output, int n)
{
    __shared__ T bins[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[i % BINS], T(1));
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&output[b], bins[b]);
}
