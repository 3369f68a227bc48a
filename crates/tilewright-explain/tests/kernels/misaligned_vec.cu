__global__ void add_norm(const float *x, float *y, int d) {
    extern __shared__ float sums[];                       // blockDim.x / 32 sums, then the row
    float4 *row = (float4 *)(sums + blockDim.x / 32);
    float s = 0;
    for (int i = threadIdx.x; i < d / 4; i += blockDim.x) {
        float4 v = ((const float4 *)(x + blockIdx.x * d))[i];
        row[i] = v;
        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;
    __syncthreads();
    float t = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) t += sums[w];
    t = rsqrtf(t / d + 1e-6f);
    for (int i = threadIdx.x; i < d / 4; i += blockDim.x) {
        float4 v = row[i];
        ((float4 *)(y + blockIdx.x * d))[i] = make_float4(v.x * t, v.y * t, v.z * t, v.w * t);
    }
}
