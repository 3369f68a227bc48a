// A picture and 25 weights in constant memory; a tile with its border in shared memory.
__constant__ float weights[25];
extern "C" __global__ void convolve_5x5(const float* x, float* y, int n)
{
    __shared__ float tile[20][36];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32 - 2, top = blockIdx.y * 16 - 2;
    for (int i = ty * 32 + tx; i < 20 * 36; i += 512) {
        int row = top + i / 36, column = left + i % 36;
        tile[i / 36][i % 36] = row >= 0 && row < n && column >= 0 && column < n ? x[row * n + column] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 5; ++i)
#pragma unroll
        for (int j = 0; j < 5; ++j) sum += weights[i * 5 + j] * tile[ty + i][tx + j];
    y[(top + 2 + ty) * n + left + 2 + tx] = sum;
}
