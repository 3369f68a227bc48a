// Counts of bytes: each block counts in shared memory, and adds its counts at the end.
extern "C" __global__ void histogram_shared(const unsigned* words, unsigned* counts, int n)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        unsigned word = words[i];
        atomicAdd(&mine[word & 255], 1u);
        atomicAdd(&mine[word >> 8 & 255], 1u);
        atomicAdd(&mine[word >> 16 & 255], 1u);
        atomicAdd(&mine[word >> 24], 1u);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
