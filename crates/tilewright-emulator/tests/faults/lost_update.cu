// Read, change, write back: the changes of other threads in between are lost.

//@ pair   counter
//@ launch grid=1 block=64
//@ args   i32[1]:zero
//@ finds  LostUpdate lines=update threads=0-63
extern "C" __global__ void counter_faulty(int *count) {
    count[0] += 1; // @update
}
extern "C" __global__ void counter_correct(int *count) {
    atomicAdd(count, 1);
}

//@ pair   global_histogram
//@ launch grid=4 block=32
//@ args   i32[128] i32[8]:zero
//@ finds  LostUpdate lines=update threads=0-31
extern "C" __global__ void global_histogram_faulty(const int *in, int *bins) {
    bins[in[blockIdx.x * 32 + threadIdx.x] & 7] += 1; // @update
}
extern "C" __global__ void global_histogram_correct(const int *in, int *bins) {
    atomicAdd(&bins[in[blockIdx.x * 32 + threadIdx.x] & 7], 1);
}

//@ pair   shared_histogram
//@ launch grid=1 block=64
//@ args   i32[64] i32[8]
//@ finds  LostUpdate lines=update threads=0-63
extern "C" __global__ void shared_histogram_faulty(const int *in, int *out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[threadIdx.x] & 7] += 1; // @update
    __syncthreads();
    if (threadIdx.x < 8)
        out[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void shared_histogram_correct(const int *in, int *out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] & 7], 1);
    __syncthreads();
    if (threadIdx.x < 8)
        out[threadIdx.x] = bins[threadIdx.x];
}

//@ pair   largest_value
//@ launch grid=2 block=32
//@ args   i32[64] i32[1]:zero
//@ finds  LostUpdate lines=load,store threads=0-31
// Compare and store in two steps.
extern "C" __global__ void largest_value_faulty(const int *in, int *largest) {
    int value = in[blockIdx.x * 32 + threadIdx.x];
    if (value > *(volatile int *)largest)   // @load
        *(volatile int *)largest = value;   // @store
}
extern "C" __global__ void largest_value_correct(const int *in, int *largest) {
    atomicMax(largest, in[blockIdx.x * 32 + threadIdx.x]);
}

//@ pair   sum_of_blocks
//@ launch grid=8 block=32
//@ args   f32[8] f32[1]:zero
//@ finds  LostUpdate lines=update threads=0
extern "C" __global__ void sum_of_blocks_faulty(const float *partial, float *sum) {
    if (threadIdx.x == 0)
        sum[0] += partial[blockIdx.x]; // @update
}
extern "C" __global__ void sum_of_blocks_correct(const float *partial, float *sum) {
    if (threadIdx.x == 0)
        atomicAdd(sum, partial[blockIdx.x]);
}
