// Asynchronous copies that nobody has waited for.

// Macros, so that lines are those of the kernels.
#define COPY_ASYNC(to, from)                                                                                  \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(                                            \
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),                                    \
                 "l"(from)                                                                                    \
                 : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_ALL() asm volatile("cp.async.wait_all;" ::: "memory")
#define WAIT_GROUP(open) asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory")

//@ pair   copy_without_wait
//@ launch grid=1 block=32
//@ args   f32[32] f32[32]
//@ finds  PendingCopy lines=copy,read threads=0-31
extern "C" __global__ void copy_without_wait_faulty(const float *in, float *out) {
    __shared__ float tile[32];
    COPY_ASYNC(&tile[threadIdx.x], &in[threadIdx.x]); // @copy
    COMMIT();
    out[threadIdx.x] = 2 * tile[threadIdx.x]; // @read
}
extern "C" __global__ void copy_without_wait_correct(const float *in, float *out) {
    __shared__ float tile[32];
    COPY_ASYNC(&tile[threadIdx.x], &in[threadIdx.x]);
    WAIT_ALL();
    out[threadIdx.x] = 2 * tile[threadIdx.x];
}

//@ pair   barrier_without_wait
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  PendingCopy lines=copy,read threads=0-63
// A barrier does not wait for copies.
extern "C" __global__ void barrier_without_wait_faulty(const float *in, float *out) {
    __shared__ float tile[64];
    COPY_ASYNC(&tile[threadIdx.x], &in[threadIdx.x]); // @copy
    COMMIT();
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // @read
}
extern "C" __global__ void barrier_without_wait_correct(const float *in, float *out) {
    __shared__ float tile[64];
    COPY_ASYNC(&tile[threadIdx.x], &in[threadIdx.x]);
    COMMIT();
    WAIT_GROUP(0);
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

//@ pair   one_group_too_few
//@ launch grid=1 block=32
//@ args   f32[128] f32[32]
//@ finds  PendingCopy lines=copy,read threads=0-31
// The tile has been written before: what is read is the old value.
extern "C" __global__ void one_group_too_few_faulty(const float *in, float *out) {
    __shared__ float tile[2][32];
    float sum = 0;
    tile[0][threadIdx.x] = tile[1][threadIdx.x] = 0;
    COPY_ASYNC(&tile[0][threadIdx.x], &in[threadIdx.x]); // @copy
    COMMIT();
#pragma unroll 1
    for (int step = 1; step < 4; ++step) {
        COPY_ASYNC(&tile[step & 1][threadIdx.x], &in[32 * step + threadIdx.x]); // @copy
        COMMIT();
        WAIT_GROUP(2);
        sum += tile[step - 1 & 1][threadIdx.x]; // @read
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void one_group_too_few_correct(const float *in, float *out) {
    __shared__ float tile[2][32];
    float sum = 0;
    tile[0][threadIdx.x] = tile[1][threadIdx.x] = 0;
    COPY_ASYNC(&tile[0][threadIdx.x], &in[threadIdx.x]);
    COMMIT();
#pragma unroll 1
    for (int step = 1; step < 4; ++step) {
        COPY_ASYNC(&tile[step & 1][threadIdx.x], &in[32 * step + threadIdx.x]);
        COMMIT();
        WAIT_GROUP(1);
        sum += tile[step - 1 & 1][threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

//@ pair   store_into_copy
//@ launch grid=1 block=32
//@ args   f32[32] f32[32]
//@ finds  PendingCopy lines=copy,store threads=0-31
// Which of the two values stays is open.
extern "C" __global__ void store_into_copy_faulty(const float *in, float *out) {
    __shared__ float tile[32];
    COPY_ASYNC(&tile[threadIdx.x], &in[threadIdx.x]); // @copy
    tile[threadIdx.x] = -1; // @store
    WAIT_ALL();
    out[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void store_into_copy_correct(const float *in, float *out) {
    __shared__ float tile[32];
    COPY_ASYNC(&tile[threadIdx.x], &in[threadIdx.x]);
    WAIT_ALL();
    tile[threadIdx.x] = -1;
    out[threadIdx.x] = tile[threadIdx.x];
}
