// Memory that kernels take with malloc.

//@ pair   freed_twice
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  InvalidFree lines=second threads=0
extern "C" __global__ void freed_twice_faulty(float *out) {
    __shared__ float *shared;
    if (threadIdx.x == 0)
        shared = static_cast<float *>(malloc(32 * sizeof(float)));
    __syncthreads();
    shared[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = shared[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        free(shared);
        free(shared); // @second
    }
}
extern "C" __global__ void freed_twice_correct(float *out) {
    __shared__ float *shared;
    if (threadIdx.x == 0)
        shared = static_cast<float *>(malloc(32 * sizeof(float)));
    __syncthreads();
    shared[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = shared[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        free(shared);
        free(nullptr);
    }
}

//@ pair   freed_inside
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  InvalidFree lines=free threads=0-31
extern "C" __global__ void freed_inside_faulty(float *out) {
    float *own = static_cast<float *>(malloc(4 * sizeof(float)));
    own[1] = threadIdx.x;
    out[threadIdx.x] = own[1];
    free(own + 1); // @free
}
extern "C" __global__ void freed_inside_correct(float *out) {
    float *own = static_cast<float *>(malloc(4 * sizeof(float)));
    own[1] = threadIdx.x;
    out[threadIdx.x] = own[1];
    free(own);
}

//@ pair   used_after_free
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  OutOfBounds lines=use threads=0-31
extern "C" __global__ void used_after_free_faulty(float *out) {
    volatile float *own = static_cast<float *>(malloc(4 * sizeof(float)));
    own[1] = threadIdx.x;
    free(const_cast<float *>(own));
    out[threadIdx.x] = own[1]; // @use
}
extern "C" __global__ void used_after_free_correct(float *out) {
    volatile float *own = static_cast<float *>(malloc(4 * sizeof(float)));
    own[1] = threadIdx.x;
    out[threadIdx.x] = own[1];
    free(const_cast<float *>(own));
}
