// C = A B: a block of 256 threads computes 128 x 128, each thread 8 x 8, with loads of 16 bytes.
extern "C" __global__ void __launch_bounds__(256) sgemm_vector_patch(const float4* a, const float4* b, float4* c, int n)
{
    __shared__ __align__(16) float left[8][128], right[8][128];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 128, column = blockIdx.x * 128;
    float sums[8][8] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        float4 piece = a[((row + t / 2) * n + k0) / 4 + t % 2];
        left[t % 2 * 4 + 0][t / 2] = piece.x, left[t % 2 * 4 + 1][t / 2] = piece.y;
        left[t % 2 * 4 + 2][t / 2] = piece.z, left[t % 2 * 4 + 3][t / 2] = piece.w;
        reinterpret_cast<float4*>(right[t / 32])[t % 32] = b[((k0 + t / 32) * n + column) / 4 + t % 32];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            float x[8], y[8];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float4 p = reinterpret_cast<float4*>(left[k])[ty * 2 + h], q = reinterpret_cast<float4*>(right[k])[tx + h * 16];
                x[h * 4] = p.x, x[h * 4 + 1] = p.y, x[h * 4 + 2] = p.z, x[h * 4 + 3] = p.w;
                y[h * 4] = q.x, y[h * 4 + 1] = q.y, y[h * 4 + 2] = q.z, y[h * 4 + 3] = q.w;
            }
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            c[((row + ty * 8 + i) * n + column) / 4 + tx + h * 16] =
                make_float4(sums[i][h * 4], sums[i][h * 4 + 1], sums[i][h * 4 + 2], sums[i][h * 4 + 3]);
}
