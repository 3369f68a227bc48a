// The shortcut problem, r[i][j] = min over k of d[i][k] + d[k][j]: a first version. It has a fault.
__global__ void step(float* r, const float* d, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int j = threadIdx.y + blockIdx.y * blockDim.y;
    float v = __int_as_float(0x7f800000);
    for (int k = 0; k < n; ++k) {
        float x = d[n * i + k];
        float y = d[n * k + j];
        v = min(v, x + y);
    }
    r[n * i + j] = v;
}
