__global__ void copy(const float2 *x, float2 *y, int which) {
    struct { int pad[2]; float2 v[4]; } local;
    local.pad[0] = which;
    *(int4 *)&local.v[0] = *(const int4 *)&x[threadIdx.x * 4];
    *(int4 *)&local.v[2] = *(const int4 *)&x[threadIdx.x * 4 + 2];
    y[threadIdx.x] = local.v[(local.pad[0] + threadIdx.x) & 3];
}
