// C = A B: a block of 256 threads computes 64 x 64, each thread 4 x 4 of them in registers.
extern "C" __global__ void __launch_bounds__(256) sgemm_patch(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[16][64 + 4], right[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sums[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            left[i % 16][i / 16] = a[(row + i / 16) * n + k0 + i % 16];
            right[i / 64][i % 64] = b[(k0 + i / 64) * n + column + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float x[4], y[4];
            for (int i = 0; i < 4; ++i) x[i] = left[k][ty * 4 + i], y[i] = right[k][tx + i * 16];
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + column + tx + j * 16] = sums[i][j];
}
