// out = src transposed, n x n; neighbouring threads store n elements apart.
extern "C" __global__ void transpose_naive(const float *src, float *out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < n && y < n)
        out[x * n + y] = src[y * n + x];
}

// The same through a tile, whose rows are padded by one element.
extern "C" __global__ void transpose_tiled(const float *src, float *out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int row = 0; row < 32; row += 8)
        if (x < n && y + row < n)
            tile[threadIdx.y + row][threadIdx.x] = src[(y + row) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int row = 0; row < 32; row += 8)
        if (x < n && y + row < n)
            out[(y + row) * n + x] = tile[threadIdx.x][threadIdx.y + row];
}

// C = A B, n x n, one element a thread.
extern "C" __global__ void matmul_naive(const float *A, const float *B, float *C, int n) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= n || column >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}

// The same through tiles of 16 x 16, any n.
extern "C" __global__ void matmul_tiled(const float *A, const float *B, float *C, int n) {
    __shared__ float As[16][16], Bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0.0f;
    for (int first = 0; first < n; first += 16) {
        As[y][x] = row < n && first + x < n ? A[row * n + first + x] : 0.0f;
        Bs[y][x] = first + y < n && column < n ? B[(first + y) * n + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += As[y][k] * Bs[k][x];
        __syncthreads();
    }
    if (row < n && column < n)
        C[row * n + column] = sum;
}

// The softmax of each row, by a warp.
extern "C" __global__ void softmax_rows(const float *src, float *out, int columns) {
    const float *row = src + blockIdx.x * columns;
    float largest = -3.4e38f, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 32)
        largest = fmaxf(largest, row[i]);
    for (int distance = 16; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
    for (int i = threadIdx.x; i < columns; i += 32)
        sum += expf(row[i] - largest);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    for (int i = threadIdx.x; i < columns; i += 32)
        out[blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
}

// The mean of each element and its four neighbours, with zeros around.
extern "C" __global__ void blur(const float *src, float *out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float sum = src[y * n + x];
    sum += x > 0 ? src[y * n + x - 1] : 0.0f;
    sum += x + 1 < n ? src[y * n + x + 1] : 0.0f;
    sum += y > 0 ? src[(y - 1) * n + x] : 0.0f;
    sum += y + 1 < n ? src[(y + 1) * n + x] : 0.0f;
    out[y * n + x] = 0.2f * sum;
}
