// Accesses at addresses that are no multiple of their size.

//@ pair   float4_from_odd_start
//@ launch grid=1 block=8
//@ args   f32[64] f32[8]
//@ finds  Misaligned lines=load threads=0-7
extern "C" __global__ void float4_from_odd_start_faulty(const float *in, float *out) {
    float4 v = *(const float4 *)(in + 1 + 4 * threadIdx.x); // @load
    out[threadIdx.x] = v.x + v.w;
}
extern "C" __global__ void float4_from_odd_start_correct(const float *in, float *out) {
    const float *p = in + 1 + 4 * threadIdx.x;
    out[threadIdx.x] = p[0] + p[3];
}

//@ pair   float2_in_odd_rows
//@ launch grid=1 block=32
//@ args   f32[1024]
//@ finds  Misaligned lines=store threads=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31
// A row of 33 floats: every second row starts at an odd one.
extern "C" __global__ void float2_in_odd_rows_faulty(float *data) {
    __shared__ __align__(16) float tile[32][33];
    *(float2 *)&tile[threadIdx.x][2] = make_float2(1, 2); // @store
    data[threadIdx.x] = tile[threadIdx.x][2];
}
extern "C" __global__ void float2_in_odd_rows_correct(float *data) {
    __shared__ __align__(16) float tile[32][34];
    *(float2 *)&tile[threadIdx.x][2] = make_float2(1, 2);
    data[threadIdx.x] = tile[threadIdx.x][2];
}

//@ pair   double_in_packed_record
//@ launch grid=1 block=16
//@ args   i32[48] f64[16]
//@ finds  Misaligned lines=load threads=0,2,4,6,8,10,12,14
// Records of 12 bytes with a double at offset 4.
extern "C" __global__ void double_in_packed_record_faulty(const char *records, double *out) {
    out[threadIdx.x] = *(const double *)(records + 12 * threadIdx.x + 4); // @load
}
extern "C" __global__ void double_in_packed_record_correct(const char *records, double *out) {
    const int *words = (const int *)(records + 12 * threadIdx.x + 4);
    out[threadIdx.x] = __hiloint2double(words[1], words[0]);
}

//@ pair   float_at_six_bytes
//@ launch grid=1 block=8
//@ args   i32[16] f32[8]
//@ finds  Misaligned lines=load threads=1,3,5,7
extern "C" __global__ void float_at_six_bytes_faulty(const char *in, float *out) {
    out[threadIdx.x] = *(const float *)(in + 6 * threadIdx.x); // @load
}
extern "C" __global__ void float_at_six_bytes_correct(const char *in, float *out) {
    out[threadIdx.x] = *(const float *)(in + 8 * threadIdx.x);
}

//@ pair   atomic_at_two_bytes
//@ launch grid=1 block=4
//@ args   i32[8]
//@ finds  Misaligned lines=atomic threads=1,3
extern "C" __global__ void atomic_at_two_bytes_faulty(char *data) {
    atomicAdd((int *)(data + 6 * threadIdx.x), 1); // @atomic
}
extern "C" __global__ void atomic_at_two_bytes_correct(char *data) {
    atomicAdd((int *)(data + 8 * threadIdx.x), 1);
}
