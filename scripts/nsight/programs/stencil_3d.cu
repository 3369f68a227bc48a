// Seven points; each thread goes up a column and keeps three planes in registers.
extern "C" __global__ void stencil_3d(const float* old, float* next, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
    int plane = n * n, i = y * n + x;
    float below = old[i], here = old[i + plane];
    for (int z = 1; z < n - 1; ++z) {
        i += plane;
        float above = old[i + plane];
        next[i] = 0.4f * here + 0.1f * (below + above + old[i - 1] + old[i + 1] + old[i - n] + old[i + n]);
        below = here, here = above;
    }
}
