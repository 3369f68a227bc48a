// Counts of words by their low bits, in global memory.
extern "C" __global__ void histogram_global(const unsigned* words, unsigned* counts, int bins)
{
    atomicAdd(&counts[words[blockIdx.x * blockDim.x + threadIdx.x] % bins], 1u);
}
