// Barriers that not all threads of the block reach.

//@ pair   barrier_in_branch
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  BarrierDivergence lines=barrier threads=0-31
extern "C" __global__ void barrier_in_branch_faulty(float *data) {
    __shared__ float tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x < 16) {
        __syncthreads(); // @barrier
        data[threadIdx.x] = tile[threadIdx.x] * 2;
    }
}
extern "C" __global__ void barrier_in_branch_correct(float *data) {
    __shared__ float tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16)
        data[threadIdx.x] = tile[threadIdx.x] * 2;
}

//@ pair   barrier_in_both_branches
//@ launch grid=1 block=64
//@ args   f32[64]
//@ finds  BarrierDivergence lines=even,odd threads=0-63
// The same number of barriers on both sides, but not the same barrier.
extern "C" __global__ void barrier_in_both_branches_faulty(float *data) {
    if (threadIdx.x & 1) {
        data[threadIdx.x] += 1;
        __syncthreads(); // @odd
        data[threadIdx.x] *= 2;
    } else {
        data[threadIdx.x] -= 1;
        __syncthreads(); // @even
        data[threadIdx.x] *= 3;
    }
}
extern "C" __global__ void barrier_in_both_branches_correct(float *data) {
    data[threadIdx.x] += threadIdx.x & 1 ? 1 : -1;
    __syncthreads();
    data[threadIdx.x] *= threadIdx.x & 1 ? 2 : 3;
}

//@ pair   early_return
//@ launch grid=1 block=64
//@ args   f32[40] i32=40
//@ finds  BarrierDivergence lines=barrier threads=32-63
// The threads beyond the end leave before the barrier, in the middle of a warp.
extern "C" __global__ void early_return_faulty(float *data, int n) {
    __shared__ float tile[64];
    if (threadIdx.x >= n)
        return;
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads(); // @barrier
    data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
extern "C" __global__ void early_return_correct(float *data, int n) {
    __shared__ float tile[64];
    if (threadIdx.x < n)
        tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n)
        data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

//@ pair   uneven_loop
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  BarrierDivergence lines=barrier threads=0-31
// Odd threads go round once more.
extern "C" __global__ void uneven_loop_faulty(float *data) {
#pragma unroll 1
    for (int turn = 0; turn < 2 + (threadIdx.x & 1); ++turn) {
        data[threadIdx.x] += turn;
        __syncthreads(); // @barrier
    }
}
extern "C" __global__ void uneven_loop_correct(float *data) {
#pragma unroll 1
    for (int turn = 0; turn < 3; ++turn) {
        if (turn < 2 + (threadIdx.x & 1))
            data[threadIdx.x] += turn;
        __syncthreads();
    }
}

//@ pair   barrier_in_switch
//@ launch grid=1 block=64
//@ args   i32[64] i32[64]
//@ finds  BarrierDivergence lines=barrier threads=0-63
extern "C" __global__ void barrier_in_switch_faulty(const int *in, int *out) {
    int value = in[threadIdx.x];
    switch (value & 3) {
    case 0:
        out[threadIdx.x] = value;
        __syncthreads(); // @barrier
        out[threadIdx.x ^ 4] += 1;
        break;
    case 1: out[threadIdx.x] = -value; break;
    default: out[threadIdx.x] = 0;
    }
}
extern "C" __global__ void barrier_in_switch_correct(const int *in, int *out) {
    int value = in[threadIdx.x];
    switch (value & 3) {
    case 0: out[threadIdx.x] = value; break;
    case 1: out[threadIdx.x] = -value; break;
    default: out[threadIdx.x] = 0;
    }
    __syncthreads();
    if ((value & 3) == 0)
        out[threadIdx.x ^ 4] += 1;
}
