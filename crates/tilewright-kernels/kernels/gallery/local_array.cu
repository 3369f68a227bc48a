// local-array: an array that is indexed with a number known only at run time.
//
// Registers have no addresses, so the array goes to local memory: memory of the thread's own, in the global address space.
#include "config.cuh"

extern "C" __global__ void local_array(const T* input, T* output, int n, int shift)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T ring[SLOTS];
    for (int s = 0; s < SLOTS; ++s) ring[(s + shift) % SLOTS] = input[i] * s;
    output[i] = ring[i % SLOTS];
}
