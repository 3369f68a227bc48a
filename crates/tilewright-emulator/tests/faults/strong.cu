// Accesses that PTX's memory model orders or does not: volatile ones, atomics, and whom they reach.

//@ pair   polled_key
//@ launch grid=1 block=64
//@ args   i32[1]
//@ finds  SharedRace lines=peek,take threads=0-63
// A key is looked at before it is taken. Two strong accesses do not race.
extern "C" __global__ void polled_key_faulty(int *out) {
    __shared__ int owner;
    if (threadIdx.x == 0)
        owner = -1;
    __syncthreads();
    if (owner == -1) // @peek
        atomicCAS(&owner, -1, threadIdx.x); // @take
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = owner >= 0;
}
extern "C" __global__ void polled_key_correct(int *out) {
    __shared__ int owner;
    if (threadIdx.x == 0)
        owner = -1;
    __syncthreads();
    if (*(volatile int *)&owner == -1)
        atomicCAS(&owner, -1, threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = owner >= 0;
}

//@ pair   read_of_a_counter
//@ launch grid=1 block=64
//@ args   i32[64]
//@ finds  SharedRace lines=store,add threads=0-63
// What is strong does not order what is weak.
extern "C" __global__ void read_of_a_counter_faulty(int *out) {
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0; // @store
    __syncwarp();
    atomicAdd(&count, 1); // @add
    out[threadIdx.x] = *(volatile int *)&count > 70;
}
extern "C" __global__ void read_of_a_counter_correct(int *out) {
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    out[threadIdx.x] = *(volatile int *)&count > 70;
}

//@ pair   flag_in_a_block
//@ launch grid=1 block=64
//@ args   i32[2]
//@ finds  SharedRace lines=data,use threads=0,32
// One warp hands a value to another, behind a flag that it polls.
extern "C" __global__ void flag_in_a_block_faulty(int *out) {
    __shared__ int data;
    __shared__ volatile int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        data = out[1]; // @data
        flag = 1;
    } else if (threadIdx.x == 0) {
        while (flag == 0)
            ;
        out[0] = data; // @use
    }
}
extern "C" __global__ void flag_in_a_block_correct(int *out) {
    __shared__ int data;
    __shared__ volatile int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        data = out[1];
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 0) {
        while (flag == 0)
            ;
        __threadfence_block();
        out[0] = data;
    }
}

//@ pair   weak_flag
//@ launch grid=2 block=32 blocks=in_order
//@ args   i32[64]:zero i32[1]:zero
//@ finds  BlockRace lines=set,poll threads=0-31
// The store of the flag is strong, and the load that waits for it is not.
extern "C" __global__ void weak_flag_faulty(int *out, int *flag) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            atomicExch(flag, 1); // @set
    } else {
        int seen;
        do
            asm volatile("ld.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // @poll
        while (seen == 0);
        out[threadIdx.x] = 1;
    }
}
extern "C" __global__ void weak_flag_correct(int *out, int *flag) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
    } else {
        while (*(volatile int *)flag == 0)
            ;
        out[threadIdx.x] = 1;
    }
}

//@ pair   found_it
//@ launch grid=1 block=64
//@ args   i32[64] i32[64]
//@ finds  SharedRace lines=look,tell threads=0-63
// Threads leave their loops when one of them has found something.
extern "C" __global__ void found_it_faulty(const int *in, int *out) {
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        if (found) // @look
            break;
        if (in[threadIdx.x] % 16 == i)
            atomicExch(&found, 1); // @tell
    }
}
extern "C" __global__ void found_it_correct(const int *in, int *out) {
    __shared__ volatile int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        if (found)
            break;
        if (in[threadIdx.x] % 16 == i)
            found = 1;
    }
}

//@ pair   scope_of_the_block
//@ launch grid=4 block=32
//@ args   i32[1]:zero
//@ finds  BlockRace lines=add threads=0-31
extern "C" __global__ void scope_of_the_block_faulty(int *sum) {
    atomicAdd_block(sum, 1); // @add
}
extern "C" __global__ void scope_of_the_block_correct(int *sum) {
    atomicAdd(sum, 1);
}

//@ pair   blocks_in_turn
//@ launch grid=4 block=32 blocks=in_order
//@ args   f32[128] f32[32]:zero i32[1]:zero
//@ finds  BlockRace lines=read,write threads=0-31
// Blocks take turns at a semaphore.
extern "C" __global__ void blocks_in_turn_faulty(const float *x, float *out, volatile int *sem) {
    const int t = threadIdx.x;
    if (t == 0)
        while (*sem != blockIdx.x)
            ;
    __syncthreads();
    const float old = blockIdx.x ? out[t] : 0; // @read
    out[t] = old + x[blockIdx.x * blockDim.x + t]; // @write
    __syncthreads();
    if (t == 0)
        *sem = blockIdx.x + 1;
}
extern "C" __global__ void blocks_in_turn_correct(const float *x, float *out, volatile int *sem) {
    const int t = threadIdx.x;
    if (t == 0)
        while (*sem != blockIdx.x)
            ;
    __syncthreads();
    const float old = blockIdx.x ? out[t] : 0;
    out[t] = old + x[blockIdx.x * blockDim.x + t];
    __threadfence();
    __syncthreads();
    if (t == 0)
        *sem = blockIdx.x + 1;
}

//@ pair   last_block
//@ launch grid=4 block=32
//@ args   f32[128] f32[4] f32[1] u32[1]:zero
//@ finds  BlockRace lines=write,read threads=0-31
// The block that comes last adds up what the others have stored.
extern "C" __global__ void last_block_faulty(const float *x, float *partial, float *out, unsigned *tickets) {
    __shared__ bool is_last;
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v; // @write
        is_last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i)
            sum += partial[i]; // @read
        *out = sum;
    }
}
extern "C" __global__ void last_block_correct(const float *x, float *partial, float *out, unsigned *tickets) {
    __shared__ bool is_last;
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v;
        __threadfence();
        is_last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i)
            sum += partial[i];
        *out = sum;
    }
}

//@ pair   volatile_reduction
//@ launch grid=1 block=32
//@ args   f32[32]
//@ finds  WarpRace lines=add threads=0-31
// Lanes that count on running in step, as code for old GPUs does.
extern "C" __global__ void volatile_reduction_faulty(float *x) {
    __shared__ volatile float v[64];
    v[threadIdx.x] = x[threadIdx.x];
    v[threadIdx.x + 32] = 0;
    __syncwarp();
#pragma unroll 1
    for (int d = 16; d; d >>= 1) {
        v[threadIdx.x] += v[threadIdx.x + d]; // @add
        __syncwarp();
    }
    x[threadIdx.x] = v[threadIdx.x];
}
extern "C" __global__ void volatile_reduction_correct(float *x) {
    __shared__ volatile float v[64];
    v[threadIdx.x] = x[threadIdx.x];
    v[threadIdx.x + 32] = 0;
    __syncwarp();
#pragma unroll 1
    for (int d = 16; d; d >>= 1) {
        const float sum = v[threadIdx.x] + v[threadIdx.x + d];
        __syncwarp();
        v[threadIdx.x] = sum;
        __syncwarp();
    }
    x[threadIdx.x] = v[threadIdx.x];
}

//@ pair   scan_in_place
//@ launch grid=4 block=32
//@ args   i32[128]
//@ finds  BlockRace lines=step threads=0-31
// One step of a scan: every element takes from one that another block changes.
extern "C" __global__ void scan_in_place_faulty(int *x) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= 8)
        x[i] += x[i - 8]; // @step
}
extern "C" __global__ void scan_in_place_correct(int *x) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.x >= 8) {
        const int sum = x[i] + x[i - 8];
        __syncwarp(0xffffff00);
        x[i] = sum;
    }
}

//@ pair   overflown_index
//@ launch grid=1 block=32
//@ args   f32[32] i32=70000 i32=40000 i64=2800000000
//@ finds  OutOfBounds lines=load threads=0-31
// The product of two sizes does not fit into 32 bits.
extern "C" __global__ void overflown_index_faulty(float *x, int rows, int width, long long first) {
    const int at = rows * width + threadIdx.x;
    x[threadIdx.x] = (x - first)[at] + 1; // @load
}
extern "C" __global__ void overflown_index_correct(float *x, int rows, int width, long long first) {
    const size_t at = (size_t)rows * width + threadIdx.x;
    x[threadIdx.x] = (x - first)[at] + 1;
}
