// z = x + a y with 16 bytes for each thread and a loop over the grid.
extern "C" __global__ void triad_vector(const float4* x, const float4* y, float4* z, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 p = x[i], q = y[i];
        z[i] = make_float4(p.x + a * q.x, p.y + a * q.y, p.z + a * q.z, p.w + a * q.w);
    }
}
