// Threads that wait for ever.

//@ pair   flag_after_barrier
//@ launch grid=1 block=64
//@ args   i32[1]:zero
//@ finds  StepLimit lines=wait,barrier threads=0-63
// One warp waits at the barrier, the other for a flag that is set behind it.
extern "C" __global__ void flag_after_barrier_faulty(int *flag) {
    if (threadIdx.x < 32) {
        __syncthreads(); // @barrier
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) // @wait
            ;
        __syncthreads();
    }
}
extern "C" __global__ void flag_after_barrier_correct(int *flag) {
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
        __syncthreads();
    } else {
        while (atomicAdd(flag, 0) == 0)
            ;
        __syncthreads();
    }
}

//@ pair   barrier_of_too_many
//@ launch grid=1 block=64
//@ args   f32[64]
//@ finds  Deadlock lines=barrier threads=0-31
// The barrier counts to 64, and one warp of 32 comes.
extern "C" __global__ void barrier_of_too_many_faulty(float *data) {
    if (threadIdx.x < 32) {
        data[threadIdx.x] += 1;
        asm volatile("bar.sync 1, 64;" ::: "memory"); // @barrier
        data[threadIdx.x ^ 1] *= 2;
    }
}
extern "C" __global__ void barrier_of_too_many_correct(float *data) {
    if (threadIdx.x < 32) {
        data[threadIdx.x] += 1;
        asm volatile("bar.sync 1, 32;" ::: "memory");
        data[threadIdx.x ^ 1] *= 2;
    }
}

//@ pair   crossed_barriers
//@ launch grid=1 block=64
//@ args   f32[64]
//@ finds  Deadlock lines=first,second threads=0-63
// Two barriers in opposite order.
extern "C" __global__ void crossed_barriers_faulty(float *data) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // @first
        data[threadIdx.x] = 1;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory"); // @second
        data[threadIdx.x] = 2;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}
extern "C" __global__ void crossed_barriers_correct(float *data) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[threadIdx.x] = 1;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[threadIdx.x] = 2;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    }
}

//@ pair   crossed_locks
//@ launch grid=1 block=64
//@ args   i32[2]:zero i32[1]:zero
//@ finds  StepLimit lines=wait threads=0,32
// Each thread holds the lock that the other wants.
extern "C" __global__ void crossed_locks_faulty(int *locks, int *shared_value) {
    bool leader = (threadIdx.x & 31) == 0;
    unsigned mine = threadIdx.x >> 5;
    if (leader)
        atomicExch(&locks[mine], 1);
    __syncthreads();
    if (leader) {
        while (atomicCAS(&locks[mine ^ 1], 0, 1) != 0) // @wait
            ;
        atomicAdd(shared_value, 1);
        atomicExch(&locks[0], 0);
        atomicExch(&locks[1], 0);
    }
}
extern "C" __global__ void crossed_locks_correct(int *locks, int *shared_value) {
    bool leader = (threadIdx.x & 31) == 0;
    __syncthreads();
    if (leader) {
        while (atomicCAS(&locks[0], 0, 1) != 0)
            ;
        while (atomicCAS(&locks[1], 0, 1) != 0)
            ;
        atomicAdd(shared_value, 1);
        atomicExch(&locks[1], 0);
        atomicExch(&locks[0], 0);
    }
}

//@ pair   wrong_flag
//@ launch grid=1 block=64
//@ args   i32[2]:zero i32[1]
//@ finds  StepLimit lines=wait threads=32-63
// The flag that is set is not the one that is waited for.
extern "C" __global__ void wrong_flag_faulty(int *flags, int *out) {
    if (threadIdx.x == 0)
        atomicExch(&flags[0], 1);
    if (threadIdx.x >= 32) {
        while (atomicAdd(&flags[1], 0) == 0) // @wait
            ;
        if (threadIdx.x == 32)
            out[0] = 1;
    }
}
extern "C" __global__ void wrong_flag_correct(int *flags, int *out) {
    if (threadIdx.x == 0)
        atomicExch(&flags[1], 1);
    if (threadIdx.x >= 32) {
        while (atomicAdd(&flags[1], 0) == 0)
            ;
        if (threadIdx.x == 32)
            out[0] = 1;
    }
}
