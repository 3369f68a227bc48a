// Accelerations of bodies (x, y, z, mass) by all others, 256 at a time through shared memory.
extern "C" __global__ void n_body(const float4* bodies, float4* pulls, int n)
{
    __shared__ float4 others[256];
    float4 me = bodies[blockIdx.x * 256 + threadIdx.x];
    float ax = 0, ay = 0, az = 0;
    for (int tile = 0; tile < n; tile += 256) {
        others[threadIdx.x] = bodies[tile + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; ++j) {
            float4 o = others[j];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), s = o.w * r * r * r;
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        __syncthreads();
    }
    pulls[blockIdx.x * 256 + threadIdx.x] = make_float4(ax, ay, az, 0);
}
