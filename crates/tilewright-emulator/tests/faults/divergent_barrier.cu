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
    data[threadIdx.x] += 1;
}
extern "C" __global__ void barrier_in_branch_correct(float *data) {
    __shared__ float tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16)
        data[threadIdx.x] = tile[threadIdx.x] * 2;
    data[threadIdx.x] += 1;
}

//@ pair   work_around_a_barrier
//@ launch grid=1 block=64
//@ args   f32[64]
//@ finds  BarrierDivergence lines=barrier threads=0-63
// Work before and behind the barrier. The correct one does what the advice says.
extern "C" __global__ void work_around_a_barrier_faulty(float *data) {
    __shared__ float tile[48];
    if (threadIdx.x < 48) {
        tile[threadIdx.x] = data[threadIdx.x];
        __syncthreads(); // @barrier
        data[threadIdx.x] = tile[47 - threadIdx.x];
    }
    data[threadIdx.x] += 1;
}
extern "C" __global__ void work_around_a_barrier_correct(float *data) {
    __shared__ float tile[48];
    if (threadIdx.x < 48)
        tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 48)
        data[threadIdx.x] = tile[47 - threadIdx.x];
    data[threadIdx.x] += 1;
}

//@ pair   barrier_behind_the_branch
//@ launch grid=1 block=64
//@ args   f32[64]
//@ finds  UninitialisedShared lines=read threads=0-47
// The barrier of the pair before, moved out with the work before it left as it was.
extern "C" __global__ void barrier_behind_the_branch_faulty(float *data) {
    __shared__ float tile[48];
    if (threadIdx.x < 48) {
        tile[threadIdx.x] = data[threadIdx.x];
        data[threadIdx.x] = tile[47 - threadIdx.x]; // @read
    }
    __syncthreads();
    data[threadIdx.x] += 1;
}
extern "C" __global__ void barrier_behind_the_branch_correct(float *data) {
    __shared__ float tile[48];
    if (threadIdx.x < 48)
        tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 48)
        data[threadIdx.x] = tile[47 - threadIdx.x];
    data[threadIdx.x] += 1;
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
//@ finds  BarrierDivergence lines=barrier threads=32-63 below=sm_70
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

//@ pair   early_return_of_a_warp
//@ launch grid=1 block=128
//@ args   f32[96] i32=40
//@ finds  BarrierDivergence lines=barrier threads=32-127 below=sm_70
// A warp and a half leave, after some work, on the other side of the branch.
extern "C" __global__ void early_return_of_a_warp_faulty(float *data, int n) {
    __shared__ float tile[128];
    if (threadIdx.x >= n) {
        if (threadIdx.x < 96)
            data[threadIdx.x] = 0;
        return;
    }
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads(); // @barrier
    data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
extern "C" __global__ void early_return_of_a_warp_correct(float *data, int n) {
    __shared__ float tile[128];
    if (threadIdx.x < n)
        tile[threadIdx.x] = data[threadIdx.x];
    else if (threadIdx.x < 96)
        data[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < n)
        data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

//@ pair   counted_barrier
//@ launch grid=1 block=64
//@ args   f32[64] i32=40
//@ finds  Deadlock lines=barrier threads=0-39
// A barrier of so many threads counts a warp of which some lanes have left as a whole one, and a warp that has left not at all.
extern "C" __global__ void counted_barrier_faulty(float *data, int n) {
    __shared__ float tile[64];
    if (threadIdx.x >= n)
        return;
    tile[threadIdx.x] = data[threadIdx.x];
    asm volatile("bar.sync 1, 96;" ::: "memory"); // @barrier
    data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
extern "C" __global__ void counted_barrier_correct(float *data, int n) {
    __shared__ float tile[64];
    if (threadIdx.x >= n)
        return;
    tile[threadIdx.x] = data[threadIdx.x];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

//@ pair   odd_block
//@ launch grid=2 block=20
//@ args   i32[40]
//@ finds  WarpRace lines=store,read threads=0-19
// Lanes that a block never had are waited for by nobody, whatever masks say.
extern "C" __global__ void odd_block_faulty(int *data) {
    __shared__ int tile[20];
    int *mine = data + blockIdx.x * 20;
    tile[threadIdx.x] = __shfl_sync(~0u, mine[threadIdx.x], 0); // @store
    mine[threadIdx.x] = tile[19 - threadIdx.x]; // @read
}
extern "C" __global__ void odd_block_correct(int *data) {
    __shared__ int tile[20];
    int *mine = data + blockIdx.x * 20;
    tile[threadIdx.x] = __shfl_sync(~0u, mine[threadIdx.x], 0);
    __syncwarp();
    __syncthreads();
    mine[threadIdx.x] = tile[19 - threadIdx.x] + __popc(__ballot_sync(~0u, threadIdx.x > 3));
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
    data[threadIdx.x] *= 2;
}
extern "C" __global__ void uneven_loop_correct(float *data) {
#pragma unroll 1
    for (int turn = 0; turn < 3; ++turn) {
        if (turn < 2 + (threadIdx.x & 1))
            data[threadIdx.x] += turn;
        __syncthreads();
    }
    data[threadIdx.x] *= 2;
}

//@ pair   barrier_in_switch
//@ launch grid=1 block=64
//@ args   i32[64] i32[128]
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
    out[64 + threadIdx.x] = value;
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
    out[64 + threadIdx.x] = value;
}

//@ pair   warps_that_have_left
//@ launch grid=1 block=256
//@ args   f32[128] f32[128]
//@ finds  BarrierDivergence lines=barrier threads=128-255 below=sm_70
// Whole warps have nothing to do, and leave beside the branch.
extern "C" __global__ void warps_that_have_left_faulty(const float *x, float *y) {
    __shared__ float part[128];
    if (threadIdx.x < 128) {
        part[threadIdx.x] = x[threadIdx.x];
        __syncthreads(); // @barrier
        y[threadIdx.x] = part[127 - threadIdx.x];
    }
}
extern "C" __global__ void warps_that_have_left_correct(const float *x, float *y) {
    __shared__ float part[128];
    if (threadIdx.x < 128)
        part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 128)
        y[threadIdx.x] = part[127 - threadIdx.x];
}
