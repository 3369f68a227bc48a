// Accesses outside the object that the pointer was made from.

//@ pair   one_past_the_end
//@ launch grid=1 block=128
//@ args   f32[100] f32[128] i32=100
//@ finds  OutOfBounds lines=load threads=100
extern "C" __global__ void one_past_the_end_faulty(const float *in, float *out, int n) {
    if (threadIdx.x <= n)
        out[threadIdx.x] = in[threadIdx.x]; // @load
}
extern "C" __global__ void one_past_the_end_correct(const float *in, float *out, int n) {
    if (threadIdx.x < n)
        out[threadIdx.x] = in[threadIdx.x];
}

//@ pair   one_before_the_start
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  OutOfBounds lines=store threads=0
extern "C" __global__ void one_before_the_start_faulty(const float *in, float *out) {
    int i = threadIdx.x;
    out[i - 1] = in[i]; // @store
}
extern "C" __global__ void one_before_the_start_correct(const float *in, float *out) {
    int i = threadIdx.x;
    if (i > 0)
        out[i - 1] = in[i];
}

//@ pair   into_the_neighbour
//@ launch grid=1 block=64
//@ args   f32[64] f32[64] f32[64]
//@ finds  OutOfBounds lines=load threads=63
// The array ends where the next allocation begins: without knowing whose pointer it is, the address looks valid.
extern "C" __global__ void into_the_neighbour_faulty(const float *a, const float *b, float *out) {
    out[threadIdx.x] = a[threadIdx.x + 1] + b[threadIdx.x]; // @load
}
extern "C" __global__ void into_the_neighbour_correct(const float *a, const float *b, float *out) {
    float next = threadIdx.x + 1 < 64 ? a[threadIdx.x + 1] : 0;
    out[threadIdx.x] = next + b[threadIdx.x];
}

//@ pair   shared_end
//@ launch grid=1 block=64
//@ args   f32[64]
//@ finds  OutOfBounds lines=load threads=63
extern "C" __global__ void shared_end_faulty(float *data) {
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[threadIdx.x + 1]; // @load
}
extern "C" __global__ void shared_end_correct(float *data) {
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[(threadIdx.x + 1) & 63];
}

//@ pair   shared_neighbour
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  OutOfBounds lines=store threads=63
// Two arrays side by side: the last store of one lands in the other, or behind it.
extern "C" __global__ void shared_neighbour_faulty(float *first, float *second) {
    __shared__ float a[64], b[64];
    a[threadIdx.x] = 0;
    b[threadIdx.x] = 0;
    __syncthreads();
    a[threadIdx.x + 1] = first[threadIdx.x];  // @store
    b[63 - threadIdx.x] = second[threadIdx.x];
    __syncthreads();
    first[threadIdx.x] = a[threadIdx.x];
    second[threadIdx.x] = b[threadIdx.x];
}
extern "C" __global__ void shared_neighbour_correct(float *first, float *second) {
    __shared__ float a[65], b[64];
    a[threadIdx.x] = 0;
    b[threadIdx.x] = 0;
    __syncthreads();
    a[threadIdx.x + 1] = first[threadIdx.x];
    b[63 - threadIdx.x] = second[threadIdx.x];
    __syncthreads();
    first[threadIdx.x] = a[threadIdx.x];
    second[threadIdx.x] = b[threadIdx.x];
}

//@ pair   dynamic_shared_end
//@ launch grid=1 block=64 shared=256
//@ args   f32[64]
//@ finds  OutOfBounds lines=store threads=63
// 64 floats were asked for at launch, and an inclusive scan wants one more.
extern "C" __global__ void dynamic_shared_end_faulty(float *data) {
    extern __shared__ float scan[];
    scan[threadIdx.x + 1] = data[threadIdx.x]; // @store
    __syncthreads();
    if (threadIdx.x > 0)
        data[threadIdx.x] = scan[threadIdx.x];
}
extern "C" __global__ void dynamic_shared_end_correct(float *data) {
    extern __shared__ float scan[];
    if (threadIdx.x < 63)
        scan[threadIdx.x + 1] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x > 0)
        data[threadIdx.x] = scan[threadIdx.x];
}

//@ pair   wide_load_at_the_end
//@ launch grid=1 block=16
//@ args   f32[62] f32[64]
//@ finds  OutOfBounds lines=load threads=15
// 62 floats are not a whole number of float4.
extern "C" __global__ void wide_load_at_the_end_faulty(const float4 *in, float *out) {
    float4 v = in[threadIdx.x]; // @load
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
extern "C" __global__ void wide_load_at_the_end_correct(const float4 *in, float *out) {
    if (threadIdx.x < 15) {
        float4 v = in[threadIdx.x];
        out[threadIdx.x] = v.x + v.y + v.z + v.w;
    }
}

//@ pair   row_guard
//@ launch grid=2x2 block=8x8
//@ args   f32[120] f32[120] i32=10 i32=12
//@ finds  OutOfBounds lines=store threads=32-63
// 10 columns, 12 rows: the guard on rows is missing, and only the lower blocks are beyond the end.
extern "C" __global__ void row_guard_faulty(const float *in, float *out, int columns, int rows) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < columns)
        out[y * columns + x] = y < rows ? in[y * columns + x] : 0; // @store
}
extern "C" __global__ void row_guard_correct(const float *in, float *out, int columns, int rows) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < columns && y < rows)
        out[y * columns + x] = in[y * columns + x];
}

//@ pair   bytes_for_elements
//@ launch grid=1 block=32
//@ args   i32[32]
//@ finds  OutOfBounds lines=atomic threads=8-31
// A byte offset used as an index.
extern "C" __global__ void bytes_for_elements_faulty(int *data) {
    atomicAdd(&data[threadIdx.x * sizeof(int)], 1); // @atomic
}
extern "C" __global__ void bytes_for_elements_correct(int *data) {
    atomicAdd(&data[threadIdx.x], 1);
}
