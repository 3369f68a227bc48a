// Kernels with known resources. The cubins beside this file are compiled from it; their names say by which toolkit:
//   nvcc -cubin -arch=sm_90 resources.cu -o resources.sm_90.cuda13.cubin
__constant__ int table[100];

extern "C" __global__ void __launch_bounds__(256, 2) tile(const float* a, float* c, int n) {
    __shared__ float s[32 * 33];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    c[threadIdx.x] = s[255 - threadIdx.x] + table[n];
}

extern "C" __global__ void dynamic(float* c) {
    extern __shared__ float d[];
    d[threadIdx.x] = 1;
    __syncthreads();
    c[threadIdx.x] = d[threadIdx.x ^ 1];
}

// An array that is indexed at run time.
extern "C" __global__ void local_array(float* c, int n) {
    float a[64];
    for (int i = 0; i < 64; i++) a[i] = c[i] * n;
    for (int i = 0; i < n; i++) a[(i * 7) % 64] += c[i];
    c[0] = a[n];
}

// 120 live values, and room for 64.
extern "C" __global__ void __launch_bounds__(1024) spill(float* c, int n) {
    float a[120];
#pragma unroll
    for (int i = 0; i < 120; i++) a[i] = c[i * 32];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 120; i++) a[i] = a[i] * a[(i + 37) % 120];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 120; i++) c[i * 32 + n] = a[i];
}

extern "C" __global__ void barriers(float* c) {
    asm volatile("bar.sync 3, 64;");
    c[0] = 1;
    asm volatile("bar.sync 5, 64;");
}
