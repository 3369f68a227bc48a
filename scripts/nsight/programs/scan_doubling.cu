// Inclusive scan of each block's 512 elements: steps of 1, 2, 4 ... through two shared buffers.
extern "C" __global__ void scan_doubling(const float* x, float* y)
{
    __shared__ float buffer[2][512];
    int t = threadIdx.x, now = 0;
    buffer[0][t] = x[blockIdx.x * 512 + t];
    __syncthreads();
    for (int s = 1; s < 512; s *= 2) {
        float sum = buffer[now][t];
        if (t >= s) sum += buffer[now][t - s];
        now = 1 - now;
        buffer[now][t] = sum;
        __syncthreads();
    }
    y[blockIdx.x * 512 + t] = buffer[now][t];
}
