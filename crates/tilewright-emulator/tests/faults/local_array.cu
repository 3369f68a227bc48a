// Arrays of a thread: indices beyond their ends, and elements that nobody has written. `in` counts from zero.

//@ pair   local_end
//@ launch grid=1 block=32
//@ args   i32[32] i32[32]
//@ finds  OutOfBounds lines=store threads=16-31
extern "C" __global__ void local_end_faulty(const int *in, int *out) {
    int values[16];
    for (int i = 0; i < 16; ++i)
        values[i] = i;
    values[in[threadIdx.x]] = 7; // @store
    out[threadIdx.x] = values[in[31 - threadIdx.x] & 15];
}
extern "C" __global__ void local_end_correct(const int *in, int *out) {
    int values[32];
    for (int i = 0; i < 32; ++i)
        values[i] = i;
    values[in[threadIdx.x]] = 7;
    out[threadIdx.x] = values[in[31 - threadIdx.x] & 15];
}

//@ pair   local_start
//@ launch grid=1 block=32
//@ args   i32[32] i32[32]
//@ finds  OutOfBounds lines=read threads=0-3
extern "C" __global__ void local_start_faulty(const int *in, int *out) {
    int values[32];
    for (int i = 0; i < 32; ++i)
        values[i] = i;
    out[threadIdx.x] = values[in[threadIdx.x] - 4]; // @read
}
extern "C" __global__ void local_start_correct(const int *in, int *out) {
    int values[32];
    for (int i = 0; i < 32; ++i)
        values[i] = i;
    out[threadIdx.x] = values[in[threadIdx.x]];
}

//@ pair   local_far
//@ launch grid=1 block=32
//@ args   i32[32] i32[32]
//@ finds  OutOfBounds lines=store threads=1-31
// Up to 496 KiB behind the end.
extern "C" __global__ void local_far_faulty(const int *in, int *out) {
    int values[32];
    for (int i = 0; i < 32; ++i)
        values[i] = i;
    values[4096 * in[threadIdx.x]] = 1; // @store
    out[threadIdx.x] = values[in[threadIdx.x] & 1];
}
extern "C" __global__ void local_far_correct(const int *in, int *out) {
    int values[32];
    for (int i = 0; i < 32; ++i)
        values[i] = i;
    values[4096 * in[threadIdx.x] & 31] = 1;
    out[threadIdx.x] = values[in[threadIdx.x] & 1];
}

__device__ __noinline__ int nth(const int *in, int index) {
    int values[8];
    for (int i = 0; i < 8; ++i)
        values[i] = in[i];
    return values[index]; // @nth
}

//@ pair   unwritten_element
//@ launch grid=1 block=32
//@ args   i32[32] i32[32]
//@ finds  UninitialisedLocal lines=read threads=0-31
extern "C" __global__ void unwritten_element_faulty(const int *in, int *out) {
    int values[32];
    values[in[threadIdx.x]] = 1;
    out[threadIdx.x] = values[in[31 - threadIdx.x]]; // @read
}
extern "C" __global__ void unwritten_element_correct(const int *in, int *out) {
    int values[32];
    for (int i = 0; i < 32; ++i)
        values[i] = 0;
    values[in[threadIdx.x]] = 1;
    out[threadIdx.x] = values[in[31 - threadIdx.x]];
}

struct Padded {
    double weight;
    int key;
};

//@ pair   padded_records
//@ launch grid=1 block=32
//@ args   i32[32] u64[64]
//@ finds  UninitialisedLocal lines=copy threads=0-31
// The bytes behind `key` belong to nobody: copying them is no fault.
extern "C" __global__ void padded_records_faulty(const int *in, Padded *out) {
    Padded records[8];
    records[in[threadIdx.x] & 7].weight = 1;
    records[in[threadIdx.x] & 7].key = 2;
    memcpy(&out[threadIdx.x], &records[in[31 - threadIdx.x] & 7], sizeof(Padded)); // @copy
}
extern "C" __global__ void padded_records_correct(const int *in, Padded *out) {
    Padded records[8];
    records[in[threadIdx.x] & 7].weight = 1;
    records[in[threadIdx.x] & 7].key = 2;
    memcpy(&out[threadIdx.x], &records[in[threadIdx.x] & 7], sizeof(Padded));
}

//@ pair   array_of_a_function
//@ launch grid=1 block=32
//@ args   i32[32] i32[32]
//@ finds  OutOfBounds lines=nth threads=8-31
// The array is that of a function with a frame of its own.
extern "C" __global__ void array_of_a_function_faulty(const int *in, int *out) {
    int mine[8];
    for (int i = 0; i < 8; ++i)
        mine[i] = i;
    out[threadIdx.x] = nth(in, in[threadIdx.x]) + mine[in[threadIdx.x] & 7];
}
extern "C" __global__ void array_of_a_function_correct(const int *in, int *out) {
    int mine[8];
    for (int i = 0; i < 8; ++i)
        mine[i] = i;
    out[threadIdx.x] = nth(in, in[threadIdx.x] & 7) + mine[in[threadIdx.x] & 7];
}
