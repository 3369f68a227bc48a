// A sum: each thread adds many elements, each warp its lanes by shuffles, and one atomic addition for each warp is left.
extern "C" __global__ void reduce_shuffle(const float* x, float* total, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}
