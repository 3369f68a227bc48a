extern "C" __global__ void tile(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16], bs[16][17];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        as[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0;
        bs[y][x] = column < n && t + y < n ? b[(t + y) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
