// y = a x + y
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// What a block's threads hold, added up: the sum is that of thread 0.
__device__ float sum_of_block(float value) {
    __shared__ float of_warp[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    if (lane == 0)
        of_warp[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / 32 ? of_warp[lane] : 0.0f;
    if (warp == 0)
        for (int distance = 16; distance > 0; distance /= 2)
            value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

// A partial sum of x y for each block.
extern "C" __global__ void dot(const float *x, const float *y, float *partial, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * y[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

// The sum of the partial sums, by one block.
extern "C" __global__ void finish(const float *partial, float *result, int blocks) {
    float sum = sum_of_block(threadIdx.x < blocks ? partial[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0)
        *result = sum;
}

// How often each of eight values occurs; a copy of the bins for each block.
extern "C" __global__ void histogram(const int *values, int *bins, int n) {
    __shared__ int mine[8];
    if (threadIdx.x < 8)
        mine[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&mine[values[i] & 7], 1);
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// Running sums within a block of 256.
extern "C" __global__ void scan(const float *src, float *out) {
    __shared__ float row[2][256];
    int i = threadIdx.x, now = 0;
    row[0][i] = src[blockIdx.x * 256 + i];
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        row[1 - now][i] = i < distance ? row[now][i] : row[now][i] + row[now][i - distance];
        now = 1 - now;
        __syncthreads();
    }
    out[blockIdx.x * 256 + i] = row[now][i];
}
