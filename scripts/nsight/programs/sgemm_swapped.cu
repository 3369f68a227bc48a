// C = A B with the indices of the thread swapped: neighbouring threads take neighbouring rows.
extern "C" __global__ void sgemm_swapped(const float* a, const float* b, float* c, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
