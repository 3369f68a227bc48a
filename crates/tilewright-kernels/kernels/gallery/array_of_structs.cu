// array-of-structs: reads two fields of a structure of four, stored one structure after another.
//
// Neighbouring threads read addresses 16 bytes apart, so half of every sector is fields that nobody asked for.
#include "config.cuh"

struct Point {
    T x, y, z, w;
};

extern "C" __global__ void array_of_structs(const Point* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[i].x + input[i].y;
}
