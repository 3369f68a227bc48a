extern "C" __global__ void naive(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) { float s = 0; for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col]; c[row * n + col] = s; }
}
extern "C" __global__ void coalesced(const float* a, const float* b, float* c, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) { float s = 0; for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col]; c[row * n + col] = s; }
}
template <int T> __device__ void tile(const float* a, const float* b, float* c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
    float s = 0;
    for (int t = 0; t < n; t += T) {
        as[ty][tx] = a[row * n + t + tx]; bs[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++) s += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}
extern "C" __global__ void tile32(const float* a, const float* b, float* c, int n) { tile<32>(a, b, c, n); }
extern "C" __global__ void tile16(const float* a, const float* b, float* c, int n) { tile<16>(a, b, c, n); }
extern "C" __global__ void minplus32(const float* a, const float* b, float* c, int n) {
    __shared__ float as[32][32], bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 32 + tx, row = blockIdx.y * 32 + ty;
    float s = 1e30f;
    for (int t = 0; t < n; t += 32) {
        as[ty][tx] = a[row * n + t + tx]; bs[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 32; k++) s = fminf(s, as[ty][k] + bs[k][tx]);
        __syncthreads();
    }
    c[row * n + col] = s;
}
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
