// Compare-and-swaps that store, and others that only look.

//@ pair   swap_without_barrier
//@ launch grid=1 block=64
//@ args   i32[64]
//@ finds  SharedRace lines=swap,read threads=0-63
// The correct one finds another value than it compares with: it stores nothing, and nobody's read conflicts with it.
extern "C" __global__ void swap_without_barrier_faulty(int *data) {
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 1;
    __syncthreads();
    if (threadIdx.x == 40)
        atomicCAS(&flag, 1, 2); // @swap
    data[threadIdx.x] = flag; // @read
}
extern "C" __global__ void swap_without_barrier_correct(int *data) {
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 1;
    __syncthreads();
    if (threadIdx.x == 40)
        atomicCAS(&flag, 0, 2);
    data[threadIdx.x] = flag;
}

//@ pair   swap_between_blocks
//@ launch grid=4 block=32
//@ args   i32[32] i32[128]
//@ finds  BlockRace lines=swap,read
// `in` counts from zero.
extern "C" __global__ void swap_between_blocks_faulty(int *in, int *out) {
    out[blockIdx.x * 32 + threadIdx.x] = in[5]; // @read
    if (threadIdx.x == 0)
        atomicCAS(&in[5], 5, 6); // @swap
}
extern "C" __global__ void swap_between_blocks_correct(int *in, int *out) {
    out[blockIdx.x * 32 + threadIdx.x] = in[5];
    if (threadIdx.x == 0)
        atomicCAS(&in[5], 4, 6);
}
