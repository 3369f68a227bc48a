// Values that nobody has given: what counts is where they decide something, not where they are loaded.

//@ pair   speculated_load
//@ launch grid=1 block=64
//@ args   f32[64] f32[1] i32=3
//@ finds  UninitialisedShared lines=load threads=0
// The compiler loads all of `partial` before it asks how much of it there is. The faulty kernel asks for one more than there is.
extern "C" __global__ void speculated_load_faulty(const float *x, float *y, int warps) {
    __shared__ float partial[8];
    float v = x[threadIdx.x];
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        float s = partial[0];
#pragma unroll
        for (int w = 1; w < 8; ++w)
            if (w < warps)
                s += partial[w]; // @load
        y[0] = s;
    }
}
extern "C" __global__ void speculated_load_correct(const float *x, float *y, int) {
    __shared__ float partial[8];
    float v = x[threadIdx.x];
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        float s = partial[0];
#pragma unroll
        for (int w = 1; w < 8; ++w)
            if (w * 32 < blockDim.x)
                s += partial[w];
        y[0] = s;
    }
}

//@ pair   one_byte
//@ launch grid=1 block=32
//@ args   u8[32] i32[32]
//@ finds  UninitialisedShared lines=load threads=0-31
// Of each word one byte is written, and the word is loaded whole.
extern "C" __global__ void one_byte_faulty(const unsigned char *in, int *out) {
    __shared__ unsigned words[32];
    ((unsigned char *)&words[threadIdx.x])[1] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = __byte_perm(words[31 - threadIdx.x], 0, 0x4442); // @load
}
extern "C" __global__ void one_byte_correct(const unsigned char *in, int *out) {
    __shared__ unsigned words[32];
    ((unsigned char *)&words[threadIdx.x])[1] = in[threadIdx.x];
    __syncthreads();
    const unsigned word = words[31 - threadIdx.x];
    const unsigned a = __byte_perm(word, 0, 0x4441), b = word >> 8 & 0xff, c = word << 16 >> 24;
    unsigned d;
    asm("bfe.u32 %0, %1, 8, 8;" : "=r"(d) : "r"(word));
    out[threadIdx.x] = a + b + c + d;
}

//@ pair   deciding_branch
//@ launch grid=1 block=32
//@ args   i32[32]
//@ finds  UninitialisedShared lines=load threads=16-31
extern "C" __global__ void deciding_branch_faulty(int *out) {
    __shared__ int flags[32];
    if (threadIdx.x < 16)
        flags[threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (flags[threadIdx.x] > 3) // @load
        out[threadIdx.x] = 1;
}
extern "C" __global__ void deciding_branch_correct(int *out) {
    __shared__ int flags[32];
    if (threadIdx.x < 16)
        flags[threadIdx.x] = threadIdx.x;
    __syncwarp();
    const int flag = flags[threadIdx.x];
    if (threadIdx.x < 16 && flag > 3)
        out[threadIdx.x] = 1;
}

//@ pair   deciding_address
//@ launch grid=1 block=32
//@ args   i32[32] i32[32]
//@ finds  UninitialisedShared lines=load threads=16-31
extern "C" __global__ void deciding_address_faulty(const int *in, int *out) {
    __shared__ int at[32];
    if (threadIdx.x < 16)
        at[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = in[at[threadIdx.x] & 31]; // @load
}
extern "C" __global__ void deciding_address_correct(const int *in, int *out) {
    __shared__ int at[32];
    if (threadIdx.x < 16)
        at[threadIdx.x] = threadIdx.x;
    __syncwarp();
    // Whatever the upper lanes load, nothing is left of it.
    out[threadIdx.x] = in[at[threadIdx.x] & (threadIdx.x < 16 ? 31 : 0)];
}

//@ pair   through_memory
//@ launch grid=1 block=32
//@ args   f32[32] i32=20
//@ finds  UninitialisedShared lines=load threads=20-31
// Copied from one shared array to another before it is used.
extern "C" __global__ void through_memory_faulty(float *data, int n) {
    __shared__ float a[32], b[32];
    if (threadIdx.x < n)
        a[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    b[31 - threadIdx.x] = 2 * a[threadIdx.x]; // @load
    __syncthreads();
    data[threadIdx.x] = b[threadIdx.x];
}
extern "C" __global__ void through_memory_correct(float *data, int n) {
    __shared__ float a[32], b[32];
    if (threadIdx.x < n)
        a[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    b[31 - threadIdx.x] = 2 * a[threadIdx.x];
    __syncthreads();
    if (31 - threadIdx.x < n)
        data[threadIdx.x] = b[threadIdx.x];
}

//@ pair   in_two_steps
//@ launch grid=1 block=32
//@ args   f32[32] f32[1]
//@ finds  InactiveLane lines=first threads=1,2
// Three lanes; lane 1 reads lane 3, and lane 0 reads what lane 1 has made of it.
extern "C" __global__ void in_two_steps_faulty(const float *x, float *y) {
    if (threadIdx.x < 3) {
        float v = x[threadIdx.x];
        v = fmaxf(v, __shfl_down_sync(7u, v, 2)); // @first
        v = fmaxf(v, __shfl_down_sync(7u, v, 1));
        if (threadIdx.x == 0)
            *y = v;
    }
}
extern "C" __global__ void in_two_steps_correct(const float *x, float *y) {
    float v = threadIdx.x < 3 ? x[threadIdx.x] : -1e30f;
    v = fmaxf(v, __shfl_down_sync(~0u, v, 2));
    v = fmaxf(v, __shfl_down_sync(~0u, v, 1));
    if (threadIdx.x == 0)
        *y = v;
}

//@ pair   lanes_beyond
//@ launch grid=1 block=16
//@ args   f32[16] f32[16]
//@ finds  InactiveLane lines=shuffle threads=0-15
// A half warp sums by halves: what its upper lanes get counts only if they store it.
extern "C" __global__ void lanes_beyond_faulty(const float *x, float *y) {
    float v = x[threadIdx.x];
    for (int o = 8; o; o /= 2)
        v += __shfl_down_sync(0xffff, v, o); // @shuffle
    y[threadIdx.x] = v;
}
extern "C" __global__ void lanes_beyond_correct(const float *x, float *y) {
    float v = x[threadIdx.x];
    for (int o = 8; o; o /= 2)
        v += __shfl_down_sync(0xffff, v, o);
    if (threadIdx.x == 0)
        y[threadIdx.x] = v;
}

//@ pair   sum_without_start
//@ launch grid=1 block=32
//@ args   f32[64] f32[32] i32=9
//@ finds  UninitialisedRegister lines=add threads=0-31
extern "C" __global__ void sum_without_start_faulty(const float *x, float *y, int n) {
    float sum;
    for (int i = 0; i < n; ++i)
        sum += x[threadIdx.x + i]; // @add
    y[threadIdx.x] = sum;
}
extern "C" __global__ void sum_without_start_correct(const float *x, float *y, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += x[threadIdx.x + i];
    y[threadIdx.x] = sum;
}

//@ pair   largest_without_start
//@ launch grid=1 block=32
//@ args   f32[64] i32[32] i32=9
//@ finds  UninitialisedRegister lines=compare threads=0-31
extern "C" __global__ void largest_without_start_faulty(const float *x, int *y, int n) {
    float best;
    int at = 0;
    for (int i = 0; i < n; ++i)
        if (x[threadIdx.x + i] > best) { // @compare
            best = x[threadIdx.x + i];
            at = i;
        }
    y[threadIdx.x] = at;
}
// The compiler keeps `best` without a value for n = 0, and nobody asks for it then.
extern "C" __global__ void largest_without_start_correct(const float *x, int *y, int n) {
    float best;
    int at = -1;
    for (int i = 0; i < n; ++i)
        if (i == 0 || x[threadIdx.x + i] > best) {
            best = x[threadIdx.x + i];
            at = i;
        }
    y[threadIdx.x] = at;
}

//@ pair   set_in_one_branch
//@ launch grid=1 block=32
//@ args   i32[32] i32[32] i32=9
//@ finds  UninitialisedRegister lines=read,write threads=9-31
extern "C" __global__ void set_in_one_branch_faulty(const int *x, int *y, int n) {
    int count;
    if (threadIdx.x < n)
        count = x[threadIdx.x]; // @read
    __syncthreads();
    y[threadIdx.x] = count; // @write
}
extern "C" __global__ void set_in_one_branch_correct(const int *x, int *y, int n) {
    int count;
    if (threadIdx.x < n)
        count = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n)
        y[threadIdx.x] = count;
}

__device__ __noinline__ float twice(float v) {
    return 2 * v;
}

//@ pair   through_a_call
//@ launch grid=1 block=32
//@ args   f32[32] i32=20
//@ finds  UninitialisedShared lines=load threads=20-31
extern "C" __global__ void through_a_call_faulty(float *data, int n) {
    __shared__ float a[32];
    if (threadIdx.x < n)
        a[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = twice(a[threadIdx.x]); // @load
}
extern "C" __global__ void through_a_call_correct(float *data, int n) {
    __shared__ float a[32];
    if (threadIdx.x < n)
        a[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    const float v = twice(a[threadIdx.x]);
    if (threadIdx.x < n)
        data[threadIdx.x] = v;
}

//@ pair   ragged_matrix
//@ launch grid=1 block=32
//@ args   u16[256] f32[256] i32=11
//@ finds  UninitialisedShared lines=load threads=11-31
// A tile of a matrix product whose last rows nobody has filled: rows of the result, not all of it, have no value.
__device__ void product(unsigned (&a)[4], float (&d)[4]) {
    const unsigned one = 0x3c003c00;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %8}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(one));
}
__device__ void load(unsigned (&a)[4], const unsigned short *tile) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x % 16 * 16 + threadIdx.x / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at) : "memory"); // @load
}
extern "C" __global__ void ragged_matrix_faulty(const unsigned short *x, float *y, int rows) {
    __shared__ __align__(16) unsigned short tile[256];
    for (int i = threadIdx.x; i < 16 * rows; i += 32)
        tile[i] = x[i];
    __syncthreads();
    unsigned a[4];
    float d[4] = {};
    load(a, tile);
    product(a, d);
    const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    y[row * 8 + column] = d[0];
    y[(row + 8) * 8 + column] = d[2];
}
extern "C" __global__ void ragged_matrix_correct(const unsigned short *x, float *y, int rows) {
    __shared__ __align__(16) unsigned short tile[256];
    for (int i = threadIdx.x; i < 16 * rows; i += 32)
        tile[i] = x[i];
    __syncthreads();
    unsigned a[4];
    float d[4] = {};
    load(a, tile);
    product(a, d);
    const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    y[row * 8 + column] = d[0];
    if (row + 8 < rows)
        y[(row + 8) * 8 + column] = d[2];
}
