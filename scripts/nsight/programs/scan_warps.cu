// Inclusive scan of each block's 1024 elements: lanes by shuffles, then the sums of the warps by one warp.
extern "C" __global__ void scan_warps(const float* x, float* y)
{
    __shared__ float warps[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float sum = x[blockIdx.x * 1024 + t];
    for (int d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        float all = warps[lane];
        for (int d = 1; d < 32; d *= 2) {
            float left = __shfl_up_sync(0xffffffffu, all, d);
            if (lane >= d) all += left;
        }
        warps[lane] = all;
    }
    __syncthreads();
    y[blockIdx.x * 1024 + t] = warp > 0 ? sum + warps[warp - 1] : sum;
}
