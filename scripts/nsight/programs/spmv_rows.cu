// y = A x with A by rows of 32 entries each, a thread for a row: `starts` counts in 32 entries.
extern "C" __global__ void spmv_rows(const unsigned* starts, const unsigned* columns, const float* values, const float* x, float* y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (unsigned i = starts[row] * 32; i < starts[row + 1] * 32; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
}
