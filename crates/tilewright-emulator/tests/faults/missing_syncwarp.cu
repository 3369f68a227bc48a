// Shared memory exchanged between the lanes of a warp without __syncwarp(): since Volta lanes need not run in step.

//@ pair   neighbour_exchange
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  WarpRace lines=load,store threads=0-31
extern "C" __global__ void neighbour_exchange_faulty(float *data) {
    __shared__ float tile[32];
    tile[threadIdx.x] = data[threadIdx.x];     // @store
    data[threadIdx.x] = tile[threadIdx.x ^ 1]; // @load
}
extern "C" __global__ void neighbour_exchange_correct(float *data) {
    __shared__ float tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncwarp();
    data[threadIdx.x] = tile[threadIdx.x ^ 1];
}

//@ pair   warp_reduction
//@ launch grid=1 block=32
//@ args   f32[32] f32[1]
//@ finds  WarpRace lines=sum threads=0-15
extern "C" __global__ void warp_reduction_faulty(const float *in, float *out) {
    __shared__ float part[32];
    part[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
#pragma unroll 1
    for (int stride = 16; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride)
            part[threadIdx.x] += part[threadIdx.x + stride]; // @sum
    }
    if (threadIdx.x == 0)
        out[0] = part[0];
}
extern "C" __global__ void warp_reduction_correct(const float *in, float *out) {
    __shared__ float part[32];
    part[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
#pragma unroll 1
    for (int stride = 16; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride)
            part[threadIdx.x] += part[threadIdx.x + stride];
        __syncwarp();
    }
    if (threadIdx.x == 0)
        out[0] = part[0];
}

//@ pair   leader_store
//@ launch grid=1 block=32
//@ args   f32[32] f32[32]
//@ finds  WarpRace lines=load,store threads=0-31
extern "C" __global__ void leader_store_faulty(const float *in, float *out) {
    __shared__ float scale;
    if (threadIdx.x == 0)
        scale = in[7];                          // @store
    out[threadIdx.x] = in[threadIdx.x] * scale; // @load
}
extern "C" __global__ void leader_store_correct(const float *in, float *out) {
    __shared__ float scale;
    if (threadIdx.x == 0)
        scale = in[7];
    __syncwarp();
    out[threadIdx.x] = in[threadIdx.x] * scale;
}

//@ pair   prefix_sum
//@ launch grid=1 block=32
//@ args   i32[32]
//@ finds  WarpRace lines=load,store threads=0-31
// The synchronisation between reading and writing a level is missing.
extern "C" __global__ void prefix_sum_faulty(int *data) {
    __shared__ int sums[32];
    sums[threadIdx.x] = data[threadIdx.x];
    __syncwarp();
#pragma unroll 1
    for (int distance = 1; distance < 32; distance <<= 1) {
        int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0; // @load
        sums[threadIdx.x] += before;                                             // @store
        __syncwarp();
    }
    data[threadIdx.x] = sums[threadIdx.x];
}
extern "C" __global__ void prefix_sum_correct(int *data) {
    __shared__ int sums[32];
    sums[threadIdx.x] = data[threadIdx.x];
    __syncwarp();
#pragma unroll 1
    for (int distance = 1; distance < 32; distance <<= 1) {
        int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncwarp();
        sums[threadIdx.x] += before;
        __syncwarp();
    }
    data[threadIdx.x] = sums[threadIdx.x];
}

//@ pair   half_warp_mask
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  WarpRace lines=load,store threads=0-31
// Each half waits for itself alone.
extern "C" __global__ void half_warp_mask_faulty(float *data) {
    __shared__ float tile[32];
    tile[threadIdx.x] = data[threadIdx.x]; // @store
    if (threadIdx.x < 16)
        __syncwarp(0x0000ffff);
    else
        __syncwarp(0xffff0000);
    data[threadIdx.x] = tile[31 - threadIdx.x]; // @load
}
extern "C" __global__ void half_warp_mask_correct(float *data) {
    __shared__ float tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x < 16)
        __syncwarp(0x0000ffff);
    else
        __syncwarp(0xffff0000);
    unsigned half = threadIdx.x & 16;
    data[threadIdx.x] = tile[half + 15 - (threadIdx.x & 15)];
}
