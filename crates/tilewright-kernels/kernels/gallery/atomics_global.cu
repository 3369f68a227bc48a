// atomics-global: a histogram whose bins are counted in global memory.
//
// Every thread adds to one of BINS counters. Threads that meet in a counter wait for each other, in the second-level cache.
#include "config.cuh"

extern "C" __global__ void atomics_global(T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&output[i % BINS], T(1));
}
