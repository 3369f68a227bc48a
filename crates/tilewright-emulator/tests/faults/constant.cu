// Constant memory that the host has not filled.

__constant__ float unfilled[32];
__constant__ float filled[4] = {1, 2, 3, 4};

//@ pair   constant_without_values
//@ launch grid=1 block=32
//@ args   i32[32] f32[32]
//@ finds  UninitialisedConstant lines=read threads=0-31
extern "C" __global__ void constant_without_values_faulty(const int *in, float *out) {
    out[threadIdx.x] = unfilled[in[threadIdx.x]]; // @read
}
extern "C" __global__ void constant_without_values_correct(const int *in, float *out) {
    out[threadIdx.x] = filled[in[threadIdx.x] & 3];
}

//@ pair   constant_by_pointer
//@ launch grid=1 block=32
//@ args   i32[32] f32[32]
//@ finds  UninitialisedConstant lines=read threads=0-31
// A generic pointer to it.
extern "C" __global__ void constant_by_pointer_faulty(const int *in, float *out) {
    const float *values = in[0] == 0 ? unfilled : out;
    out[threadIdx.x] = values[in[1]]; // @read
}
extern "C" __global__ void constant_by_pointer_correct(const int *in, float *out) {
    const float *values = in[0] == 0 ? filled : out;
    out[threadIdx.x] = values[in[1]];
}
