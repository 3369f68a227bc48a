// Reads through a cache that sees no stores of the kernel.

//@ pair   cached_neighbour
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  ReadOnlyCache lines=read threads=0-63
extern "C" __global__ void cached_neighbour_faulty(float *data, float *out) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = __ldg(&data[threadIdx.x ^ 1]); // @read
}
extern "C" __global__ void cached_neighbour_correct(float *data, float *out) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x ^ 1];
}
