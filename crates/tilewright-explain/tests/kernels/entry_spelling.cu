#include <cuda.h>
#include <stdint.h>
template <uint32_t C> __global__ void sum(const float *x, float *y) {
    float s = 0;
    for (uint32_t c = 0; c < C; ++c) s += x[threadIdx.x * C + c];
    y[threadIdx.x] = s;
}
template __global__ void sum<3>(const float *, float *);
