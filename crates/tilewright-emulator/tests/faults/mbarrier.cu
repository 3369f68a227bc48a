// Barriers in shared memory (mbarrier).

#define INIT(barrier, count) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory")
#define ARRIVE(barrier)                                                                                       \
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(barrier) : "memory")
#define WAIT(barrier, parity)                                                                                 \
    asm volatile("{ .reg .pred over; AGAIN: mbarrier.test_wait.parity.shared.b64 over, [%0], %1; @!over bra AGAIN; }" ::"r"( \
                     barrier),                                                                                \
                 "r"(parity)                                                                                  \
                 : "memory")
#define COPY_ASYNC(to, from)                                                                                  \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(                                            \
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),                                    \
                 "l"(from)                                                                                    \
                 : "memory")
#define COPIES_ARRIVE(barrier) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory")

__device__ unsigned address(unsigned long long *barrier) {
    return static_cast<unsigned>(__cvta_generic_to_shared(barrier));
}

//@ pair   not_initialised
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  InvalidMbarrier lines=arrive threads=0-63
extern "C" __global__ void not_initialised_faulty(const float *in, float *out) {
    __shared__ unsigned long long barrier;
    __shared__ float tile[64];
    barrier = 0;
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    ARRIVE(address(&barrier)); // @arrive
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 33];
}
extern "C" __global__ void not_initialised_correct(const float *in, float *out) {
    __shared__ unsigned long long barrier;
    __shared__ float tile[64];
    if (threadIdx.x == 0)
        INIT(address(&barrier), 64);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    ARRIVE(address(&barrier));
    WAIT(address(&barrier), 0);
    out[threadIdx.x] = tile[threadIdx.x ^ 33];
}

//@ pair   half_of_the_arrivals
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  SharedRace lines=store,read threads=0-63
extern "C" __global__ void half_of_the_arrivals_faulty(const float *in, float *out) {
    __shared__ unsigned long long barrier;
    __shared__ float tile[64];
    if (threadIdx.x == 0)
        INIT(address(&barrier), 32);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x]; // @store
    if (threadIdx.x < 32) {
        ARRIVE(address(&barrier));
        WAIT(address(&barrier), 0);
    }
    out[threadIdx.x] = tile[threadIdx.x ^ 33]; // @read
}
extern "C" __global__ void half_of_the_arrivals_correct(const float *in, float *out) {
    __shared__ unsigned long long barrier;
    __shared__ float tile[64];
    if (threadIdx.x == 0)
        INIT(address(&barrier), 64);
    __syncthreads();
#pragma unroll 1
    for (int phase = 0; phase < 4; phase++) {
        tile[threadIdx.x] = in[threadIdx.x];
        ARRIVE(address(&barrier));
        WAIT(address(&barrier), phase & 1);
        out[threadIdx.x] = tile[threadIdx.x ^ 33];
        __syncthreads();
    }
}

// Half of the warps copies, the others wait for it and compute.
//@ pair   copies_that_nobody_waits_for
//@ launch grid=1 block=64
//@ args   f32[32] f32[32]
//@ finds  PendingCopy lines=copy,use threads=0-63
extern "C" __global__ void copies_that_nobody_waits_for_faulty(const float *in, float *out) {
    __shared__ unsigned long long full;
    __shared__ float tile[32];
    if (threadIdx.x == 0)
        INIT(address(&full), 32);
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        COPY_ASYNC(&tile[lane], &in[lane]); // @copy
        ARRIVE(address(&full));
    } else {
        WAIT(address(&full), 0);
        out[lane] = 2 * tile[lane]; // @use
    }
}
extern "C" __global__ void copies_that_nobody_waits_for_correct(const float *in, float *out) {
    __shared__ unsigned long long full;
    __shared__ float tile[32];
    if (threadIdx.x == 0)
        INIT(address(&full), 32);
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        COPY_ASYNC(&tile[lane], &in[lane]);
        COPIES_ARRIVE(address(&full));
    } else {
        WAIT(address(&full), 0);
        out[lane] = 2 * tile[lane];
    }
}
