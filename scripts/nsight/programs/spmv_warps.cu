// The same, a warp for a row.
extern "C" __global__ void spmv_warps(const unsigned* starts, const unsigned* columns, const float* values, const float* x, float* y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (unsigned i = starts[row] * 32 + lane; i < starts[row + 1] * 32; i += 32) sum += values[i] * x[columns[i]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}
