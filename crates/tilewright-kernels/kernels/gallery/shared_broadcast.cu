// shared-broadcast: all lanes of a warp read the same word of shared memory.
//
// One bank, one word: a single wavefront delivers it to every lane. Sharing a bank costs only if the words differ.
#include "config.cuh"

extern "C" __global__ void shared_broadcast(const T* input, T* output)
{
    __shared__ T words[32];
    words[threadIdx.x] = input[threadIdx.x];
    __syncthreads();
    T sum = 0;
    for (int i = 0; i < 32; ++i) sum += words[i];
    output[threadIdx.x] = sum;
}
