// A transposition that reads columns and writes rows.
extern "C" __global__ void transpose_direct(const float* x, float* y, int n)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    y[row * n + column] = x[column * n + row];
}
