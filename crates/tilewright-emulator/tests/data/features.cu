// One kernel per feature of the machine; tests/execution.rs knows what each must write.
#include <cstdio>
#include <cassert>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

__constant__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int counter = 5;
__device__ int matrix[2][3] = {{1, 2}, {4, 5, 6}};

extern "C" __global__ void shuffles(unsigned *out) {
    unsigned t = threadIdx.x, sum = t;
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    out[t] = __shfl_sync(~0u, sum, 0);
    out[32 + t] = __shfl_up_sync(~0u, t, 3, 8);
    out[64 + t] = __shfl_xor_sync(~0u, t, 5);
    out[96 + t] = __shfl_sync(~0u, t, t + 1, 4);
}
extern "C" __global__ void votes(unsigned *out) {
    unsigned t = threadIdx.x;
    out[t] = __ballot_sync(~0u, t % 3 == 0);
    out[32 + t] = __all_sync(~0u, t < 32) * 2 + __any_sync(~0u, t == 40);
    out[64 + t] = __match_any_sync(~0u, t / 5);
    int all;
    out[96 + t] = __match_all_sync(~0u, 7, &all) + all;
    out[128 + t] = __reduce_add_sync(~0u, t) + __reduce_max_sync(~0u, t) * 1000 + __reduce_xor_sync(~0u, t) * 100000;
    if (t & 1) out[160 + t] = __activemask(); else out[160 + t] = 0;
}
extern "C" __global__ void barriers(unsigned *out) {
    unsigned t = threadIdx.x;
    out[t] = __syncthreads_count(t % 5 == 0);
    out[blockDim.x + t] = __syncthreads_and(t < 100) * 2 + __syncthreads_or(t == 3);
}
extern "C" __global__ void atomics(int *out, float *f, unsigned long long *w) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[0], t); atomicMax(&out[1], t); atomicMin(&out[2], -t); atomicOr(&out[3], 1 << (t & 31));
    atomicXor(&out[4], t); atomicInc((unsigned *)&out[5], 9); atomicDec((unsigned *)&out[6], 9);
    atomicCAS(&out[7], t, t + 1); atomicAnd(&out[8], ~(1 << (t & 15)));
    atomicAdd(f, 0.5f); atomicAdd(w, 1ull << 33); atomicAdd(&counter, 1);
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fib(threadIdx.x % 12); }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
extern "C" __global__ void pointers(int *out) {
    int (*f)(int) = threadIdx.x % 3 ? twice : square;
    out[threadIdx.x] = f(threadIdx.x) + 1;
}
extern "C" __global__ void constants(float *out) { out[threadIdx.x] = table[threadIdx.x & 7] + table[2] + matrix[threadIdx.x & 1][2]; }
extern "C" __global__ void prints(int n) {
    if (threadIdx.x == 3) printf("block %d: %s %.2f %lld %5u|\n", blockIdx.x, "text", 1.5 * n, 1ll << 40, 7u);
}
extern "C" __global__ void asserts(int n) { assert(threadIdx.x < n); }
extern "C" __global__ void locals(int *out, int n) {
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = i * threadIdx.x;
    int s = 0;
    for (int i = 0; i < n; i++) s += a[(i * 7 + threadIdx.x) & 15];
    out[threadIdx.x] = s;
}
extern "C" __global__ void divergent(int *out) {
    int t = threadIdx.x, s = 0;
    for (int i = 0; i < t; i++) { if (i % 3 == 0) continue; if (i > 20) break; s += (i & 1) ? i : -i; }
    switch (t % 5) { case 0: s += 100; break; case 1: s *= 2; case 2: s -= 7; break; default: s ^= 0x55; }
    if (t == 31) return;
    out[t] = s;
}
extern "C" __global__ void lane_lock(int *lock, int *value) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) { __threadfence(); *(volatile int *)value = *(volatile int *)value + 1; __threadfence(); atomicExch(lock, 0); done = true; }
    }
}
extern "C" __global__ void last_block(const float *in, float *part, float *out, unsigned *ticket) {
    __shared__ bool last;
    __shared__ float s[64];
    s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int d = 32; d; d >>= 1) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
    if (threadIdx.x == 0) { part[blockIdx.x] = s[0]; __threadfence(); last = atomicAdd(ticket, 1) == gridDim.x - 1; }
    __syncthreads();
    if (last && threadIdx.x == 0) { float sum = 0; for (int i = 0; i < gridDim.x; i++) sum += part[i]; *out = sum; }
}
extern "C" __global__ void grid_barrier(unsigned *arrived, int *data) {
    data[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    if (threadIdx.x == 0) { atomicAdd(arrived, 1); while (*(volatile unsigned *)arrived < gridDim.x); __threadfence(); }
    __syncthreads();
    data[gridDim.x + blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
extern "C" __global__ void async_copy(const float *in, float *out) {
    __shared__ __align__(16) float s[128];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[4 * threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * threadIdx.x));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    out[threadIdx.x] = s[127 - threadIdx.x];
}
struct Pair { int a; double b; short c[3]; };
extern "C" __global__ void by_value(Pair p, double *out) { out[threadIdx.x] = p.a + p.b + p.c[threadIdx.x % 3]; }
extern "C" __global__ void doubles(const double *x, double *out) {
    int t = threadIdx.x;
    out[t] = sqrt(x[t]) / (x[t] + 3) + fma(x[t], x[t], -1.0) - fmin(x[t], 2.0) + rint(x[t] * 1.7);
}
extern "C" __global__ void floats(const float *x, float *out) {
    int t = threadIdx.x;
    out[t] = sqrtf(x[t]) / (x[t] + 3) + fmaf(x[t], x[t], -1.0f) - fminf(x[t], 2.0f) + rintf(x[t] * 1.7f);
    out[32 + t] = sinf(x[t]) + expf(x[t] * 0.1f) + logf(x[t] + 1);
}
extern "C" __global__ void halves(const float *x, float *out) {
    int t = threadIdx.x;
    __half2 h = __floats2half2_rn(x[t], x[t] + 1);
    h = __hfma2(h, h, __float2half2_rn(0.5f));
    out[t] = __low2float(h) + __high2float(h);
    out[32 + t] = __bfloat162float(__hadd(__float2bfloat16(x[t]), __float2bfloat16(1.0f)));
}
extern "C" __global__ void integers(const int *x, int *out) {
    int t = threadIdx.x, v = x[t];
    out[t] = __popc(v) + __clz(v) + __ffs(v) + (int)__brev(v) + __byte_perm(v, 0x12345678, 0x3715) + v / 7 + v % 13;
    out[32 + t] = __mulhi(v, 0x12345) + __funnelshift_l(v, t, 7) + __vabsdiffu4(v, 0x01020304) + __dp4a(v, 0x01010101, 3) + __viaddmin_s32(v, 3, 9) + __vimin3_s32(v, 4, t);
    long long w = (long long)v * v * v;
    out[64 + t] = (int)(w >> 17) ^ (int)(w / 1000003) ^ (int)(w % 977);
    unsigned __int128 big = (unsigned __int128)w * 0x123456789abcdefull;
    out[96 + t] = (int)(big >> 64) ^ (int)(big >> 3);
}
extern "C" __global__ void heap(int **slots, int *out) {
    int *p = (int *)malloc(8);
    p[0] = threadIdx.x; p[1] = 2;
    out[threadIdx.x] = p[0] * p[1];
    free(p);
}
extern "C" __global__ void texture_reads(cudaTextureObject_t t, float *out) {
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f);
}
extern "C" __global__ void dynamic(const float *in, float *out, int n) {
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[i];
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}
