// Shared memory exchanged between warps without __syncthreads().

//@ pair   reversed_tile
//@ launch grid=1 block=64
//@ args   f32[64]
//@ finds  SharedRace lines=load,store threads=0-63
// The load side: elements are read before other warps have stored them.
extern "C" __global__ void reversed_tile_faulty(float *data) {
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];      // @store
    data[threadIdx.x] = tile[63 - threadIdx.x]; // @load
}
extern "C" __global__ void reversed_tile_correct(float *data) {
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[63 - threadIdx.x];
}

//@ pair   reused_tile
//@ launch grid=1 block=64
//@ args   f32[256] f32[64]
//@ finds  SharedRace lines=load,store threads=0-63
// The store side: a fast warp overwrites the tile while a slow one still reads it.
extern "C" __global__ void reused_tile_faulty(const float *in, float *out) {
    __shared__ float tile[64];
    float sum = 0;
#pragma unroll 1
    for (int step = 0; step < 4; ++step) {
        tile[threadIdx.x] = in[step * 64 + threadIdx.x]; // @store
        __syncthreads();
        sum += tile[63 - threadIdx.x]; // @load
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void reused_tile_correct(const float *in, float *out) {
    __shared__ float tile[64];
    float sum = 0;
#pragma unroll 1
    for (int step = 0; step < 4; ++step) {
        tile[threadIdx.x] = in[step * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

//@ pair   reduction_tree
//@ launch grid=1 block=128
//@ args   f32[128] f32[1]
//@ finds  SharedRace lines=sum threads=0-63
// The barrier of each level is missing: partial sums of the previous level come from other warps.
extern "C" __global__ void reduction_tree_faulty(const float *in, float *out) {
    __shared__ float part[128];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int stride = 64; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride)
            part[threadIdx.x] += part[threadIdx.x + stride]; // @sum
        __syncwarp();
    }
    if (threadIdx.x == 0)
        out[0] = part[0];
}
extern "C" __global__ void reduction_tree_correct(const float *in, float *out) {
    __shared__ float part[128];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int stride = 64; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride)
            part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[0] = part[0];
}

//@ pair   broadcast
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  SharedRace lines=load,store threads=0,32-63
// One thread stores, the other warp reads.
extern "C" __global__ void broadcast_faulty(const float *in, float *out) {
    __shared__ float scale;
    if (threadIdx.x == 0)
        scale = in[7]; // @store
    __syncwarp();
    out[threadIdx.x] = in[threadIdx.x] * scale; // @load
}
extern "C" __global__ void broadcast_correct(const float *in, float *out) {
    __shared__ float scale;
    if (threadIdx.x == 0)
        scale = in[7];
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x] * scale;
}

//@ pair   double_buffer
//@ launch grid=1 block=64
//@ args   f32[256] f32[64]
//@ finds  SharedRace lines=load,store threads=0-63
// Two buffers need one barrier per step only if the step stores into the buffer that it does not read.
extern "C" __global__ void double_buffer_faulty(const float *in, float *out) {
    __shared__ float tile[2][64];
    float sum = 0;
    tile[0][threadIdx.x] = in[threadIdx.x];
#pragma unroll 1
    for (int step = 0; step < 3; ++step) {
        __syncthreads();
        sum += tile[step & 1][63 - threadIdx.x];                        // @load
        tile[step & 1][threadIdx.x] = in[step * 64 + 64 + threadIdx.x]; // @store
        tile[~step & 1][threadIdx.x] = 0;
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void double_buffer_correct(const float *in, float *out) {
    __shared__ float tile[2][64];
    float sum = 0;
    tile[0][threadIdx.x] = in[threadIdx.x];
#pragma unroll 1
    for (int step = 0; step < 3; ++step) {
        __syncthreads();
        sum += tile[step & 1][63 - threadIdx.x];
        tile[~step & 1][threadIdx.x] = in[step * 64 + 64 + threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

//@ pair   partial_barrier
//@ launch grid=1 block=96
//@ args   f32[96]
//@ finds  SharedRace lines=load,store threads=0-95
// A barrier of two warps does not order the third.
extern "C" __global__ void partial_barrier_faulty(float *data) {
    __shared__ float tile[96];
    tile[threadIdx.x] = data[threadIdx.x]; // @store
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    data[threadIdx.x] = tile[95 - threadIdx.x]; // @load
}
extern "C" __global__ void partial_barrier_correct(float *data) {
    __shared__ float tile[96];
    tile[threadIdx.x] = data[threadIdx.x];
    asm volatile("bar.sync 1, 96;" ::: "memory");
    data[threadIdx.x] = tile[95 - threadIdx.x];
}

//@ pair   dynamic_stencil
//@ launch grid=1 block=128 shared=520
//@ args   f32[128] f32[128]
//@ finds  SharedRace lines=load,store threads=31-32,63-64,95-96
// Only the threads at the seams of warps are wrong.
extern "C" __global__ void dynamic_stencil_faulty(const float *in, float *out) {
    extern __shared__ float row[];
    unsigned i = threadIdx.x + 1;
    if (threadIdx.x == 0)
        row[0] = row[129] = 0;
    row[i] = in[threadIdx.x]; // @store
    __syncwarp();
    if (threadIdx.x > 0 && threadIdx.x < 127)
        out[threadIdx.x] = row[i - 1] + row[i + 1]; // @load
}
extern "C" __global__ void dynamic_stencil_correct(const float *in, float *out) {
    extern __shared__ float row[];
    unsigned i = threadIdx.x + 1;
    if (threadIdx.x == 0)
        row[0] = row[129] = 0;
    row[i] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < 127)
        out[threadIdx.x] = row[i - 1] + row[i + 1];
}

//@ pair   transposed_block
//@ launch grid=1 block=16x16
//@ args   f32[256]
//@ finds  SharedRace lines=load,store threads=0-255
// A two-dimensional block: a column of the tile comes from every warp.
extern "C" __global__ void transposed_block_faulty(float *data) {
    __shared__ float tile[16][17];
    unsigned i = threadIdx.y * 16 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = data[i]; // @store
    __syncwarp();
    data[i] = tile[threadIdx.x][threadIdx.y]; // @load
}
extern "C" __global__ void transposed_block_correct(float *data) {
    __shared__ float tile[16][17];
    unsigned i = threadIdx.y * 16 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = data[i];
    __syncthreads();
    data[i] = tile[threadIdx.x][threadIdx.y];
}

//@ pair   cleared_histogram
//@ launch grid=1 block=64
//@ args   i32[64] i32[32]
//@ finds  SharedRace lines=count,clear threads=0-63
// One warp clears the bins, another already counts.
extern "C" __global__ void cleared_histogram_faulty(const int *in, int *out) {
    __shared__ int bins[32];
    if (threadIdx.x < 32)
        bins[threadIdx.x] = 0; // @clear
    __syncwarp();
    atomicAdd(&bins[in[threadIdx.x] & 31], 1); // @count
    __syncthreads();
    if (threadIdx.x < 32)
        out[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void cleared_histogram_correct(const int *in, int *out) {
    __shared__ int bins[32];
    if (threadIdx.x < 32)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] & 31], 1);
    __syncthreads();
    if (threadIdx.x < 32)
        out[threadIdx.x] = bins[threadIdx.x];
}

//@ pair   reduction_in_a_loop
//@ launch grid=1 block=128
//@ args   f32[128] f32[1]
//@ finds  SharedRace lines=add,read threads=0-127
// The last steps are those of one warp, by the same instructions as the first: what orders lanes of a warp does not mend them.
extern "C" __global__ void reduction_in_a_loop_faulty(const float *in, float *out) {
    __shared__ float sum[128];
    int t = threadIdx.x;
    sum[t] = in[t];
    __syncthreads();
#pragma unroll 1
    for (int step = 64; step > 0; step /= 2)
        if (t < step)
            sum[t] += sum[t + step]; // @add
    if (t == 0)
        out[0] = sum[0]; // @read
}
extern "C" __global__ void reduction_in_a_loop_correct(const float *in, float *out) {
    __shared__ float sum[128];
    int t = threadIdx.x;
    sum[t] = in[t];
    __syncthreads();
#pragma unroll 1
    for (int step = 64; step > 0; step /= 2) {
        if (t < step)
            sum[t] += sum[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[0] = sum[0];
}
