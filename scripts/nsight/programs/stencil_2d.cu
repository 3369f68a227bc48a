// Heat on a plate: five points, straight from global memory.
extern "C" __global__ void stencil_2d(const float* old, float* next, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
    int i = y * n + x;
    next[i] = old[i] + 0.2f * (old[i - 1] + old[i + 1] + old[i - n] + old[i + n] - 4.0f * old[i]);
}
