// Softmax of rows, a block of 256 threads for a row: three passes.
extern "C" __global__ void softmax_rows(const float* x, float* y, int columns)
{
    __shared__ float part[8];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * columns;
    float largest = -1e30f, sum = 0;
    for (int i = t; i < columns; i += 256) largest = fmaxf(largest, row[i]);
    for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, d));
    if (t % 32 == 0) part[t / 32] = largest;
    __syncthreads();
    for (int w = 0; w < 8; ++w) largest = fmaxf(largest, part[w]);
    __syncthreads();
    for (int i = t; i < columns; i += 256) sum += __expf(row[i] - largest);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; ++w) sum += part[w];
    for (int i = t; i < columns; i += 256) y[(size_t)blockIdx.x * columns + i] = __expf(row[i] - largest) / sum;
}
