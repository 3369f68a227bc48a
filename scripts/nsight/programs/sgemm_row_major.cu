// C = A B, one thread for an element: neighbouring threads take neighbouring columns.
extern "C" __global__ void sgemm_row_major(const float* a, const float* b, float* c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
