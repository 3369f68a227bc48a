// Global memory exchanged without anything that orders the accesses.

//@ pair   stencil_in_place
//@ launch grid=4 block=32
//@ args   f32[128]
//@ finds  BlockRace lines=load,store threads=0,31
// Each block overwrites what its neighbours still read.
extern "C" __global__ void stencil_in_place_faulty(float *data) {
    unsigned i = blockIdx.x * 32 + threadIdx.x;
    float left = i > 0 ? data[i - 1] : 0; // @load
    __syncthreads();
    data[i] = left; // @store
}
extern "C" __global__ void stencil_in_place_correct(float *data) {
    unsigned i = blockIdx.x * 32 + threadIdx.x;
    float left = threadIdx.x > 0 ? data[i - 1] : 0;
    __syncthreads();
    data[i] = left;
}

//@ pair   result_of_every_block
//@ launch grid=4 block=32
//@ args   i32[1]
//@ finds  BlockRace lines=store threads=0
// The last block to run wins.
extern "C" __global__ void result_of_every_block_faulty(int *out) {
    if (threadIdx.x == 0)
        out[0] = blockIdx.x; // @store
}
extern "C" __global__ void result_of_every_block_correct(int *out) {
    if (threadIdx.x == 0)
        atomicMax(&out[0], blockIdx.x);
}

//@ pair   overlapping_blocks
//@ launch grid=3 block=32
//@ args   i32[96] i32[96]
//@ finds  BlockRace lines=store threads=0,31
// The step from block to block is one too small.
extern "C" __global__ void overlapping_blocks_faulty(const int *in, int *out) {
    unsigned i = blockIdx.x * 31 + threadIdx.x;
    out[i] = in[i] + blockIdx.x; // @store
}
extern "C" __global__ void overlapping_blocks_correct(const int *in, int *out) {
    unsigned i = blockIdx.x * 32 + threadIdx.x;
    out[i] = in[i] + blockIdx.x;
}

//@ pair   total_cleared_by_one_block
//@ launch grid=4 block=32
//@ args   i32[128] i32[1]:zero
//@ finds  BlockRace lines=clear,add threads=0-31
// A store is not ordered with the atomics of other blocks.
extern "C" __global__ void total_cleared_by_one_block_faulty(const int *in, int *total) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        total[0] = 0; // @clear
    __syncthreads();
    atomicAdd(total, in[blockIdx.x * 32 + threadIdx.x]); // @add
}
extern "C" __global__ void total_cleared_by_one_block_correct(const int *in, int *total) {
    atomicAdd(total, in[blockIdx.x * 32 + threadIdx.x]);
}

//@ pair   last_block_sums
//@ launch grid=4 block=32
//@ args   i32[4] i32[1] i32[1]:zero
//@ finds  BlockRace lines=store,load threads=0
// The block that counts last reads what the others stored, which needs a fence before counting.
extern "C" __global__ void last_block_sums_faulty(int *partial, int *total, unsigned *finished) {
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1; // @store
        if (atomicAdd(finished, 1u) == gridDim.x - 1) {
            int sum = 0;
            for (unsigned block = 0; block < gridDim.x; ++block)
                sum += *(volatile int *)&partial[block]; // @load
            total[0] = sum;
        }
    }
}
extern "C" __global__ void last_block_sums_correct(int *partial, int *total, unsigned *finished) {
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        if (atomicAdd(finished, 1u) == gridDim.x - 1) {
            __threadfence();
            int sum = 0;
            for (unsigned block = 0; block < gridDim.x; ++block)
                sum += *(volatile int *)&partial[block];
            total[0] = sum;
        }
    }
}

//@ pair   scratch_in_global_memory
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  GlobalRace lines=load,store threads=0-63
// Within a block global memory needs the barrier as well.
extern "C" __global__ void scratch_in_global_memory_faulty(float *scratch, float *out) {
    scratch[threadIdx.x] = threadIdx.x;          // @store
    out[threadIdx.x] = scratch[63 - threadIdx.x]; // @load
}
extern "C" __global__ void scratch_in_global_memory_correct(float *scratch, float *out) {
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = scratch[63 - threadIdx.x];
}

//@ pair   ping_pong_without_barrier
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  GlobalRace lines=load,store threads=31-32,0,63
// The barrier at the end of a step is missing: the next step reads what a neighbour has not stored yet.
extern "C" __global__ void ping_pong_without_barrier_faulty(float *a, float *b) {
#pragma unroll 1
    for (int step = 0; step < 4; ++step) {
        const float *from = step & 1 ? b : a;
        float *to = step & 1 ? a : b;
        to[threadIdx.x] = from[(threadIdx.x + 1) & 63] + 1; // @load @store
        __syncwarp();
    }
}
extern "C" __global__ void ping_pong_without_barrier_correct(float *a, float *b) {
#pragma unroll 1
    for (int step = 0; step < 4; ++step) {
        const float *from = step & 1 ? b : a;
        float *to = step & 1 ? a : b;
        to[threadIdx.x] = from[(threadIdx.x + 1) & 63] + 1;
        __syncthreads();
    }
}
