// struct-of-arrays: the fields of `array-of-structs`, each in an array of its own.
//
// Neighbouring threads read neighbouring elements, and the fields that are not needed are not read.
#include "config.cuh"

extern "C" __global__ void struct_of_arrays(const T* input, T* output, int n)
{
    const T *x = input, *y = input + n;  // z and w follow
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = x[i] + y[i];
}
