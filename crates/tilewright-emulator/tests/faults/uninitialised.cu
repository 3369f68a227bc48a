// Shared memory that is read before anything has written it.

//@ pair   missing_halo
//@ launch grid=1 block=64
//@ args   f32[64] f32[64]
//@ finds  UninitialisedShared lines=load threads=0,63
extern "C" __global__ void missing_halo_faulty(const float *in, float *out) {
    __shared__ float row[66];
    row[threadIdx.x + 1] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x + 2]; // @load
}
extern "C" __global__ void missing_halo_correct(const float *in, float *out) {
    __shared__ float row[66];
    row[threadIdx.x + 1] = in[threadIdx.x];
    if (threadIdx.x == 0)
        row[0] = row[65] = 0;
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x + 2];
}

//@ pair   ragged_tile
//@ launch grid=1 block=64
//@ args   f32[50] f32[64] i32=50
//@ finds  UninitialisedShared lines=load threads=0-13
// The tile is filled up to n and read to its end.
extern "C" __global__ void ragged_tile_faulty(const float *in, float *out, int n) {
    __shared__ float tile[64];
    if (threadIdx.x < n)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // @load
}
extern "C" __global__ void ragged_tile_correct(const float *in, float *out, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

//@ pair   uncleared_sum
//@ launch grid=1 block=32
//@ args   i32[32] i32[32]
//@ finds  UninitialisedShared lines=add threads=0-31
extern "C" __global__ void uncleared_sum_faulty(const int *in, int *out) {
    __shared__ int sums[32];
    atomicAdd(&sums[threadIdx.x], in[threadIdx.x]); // @add
    __syncthreads();
    out[threadIdx.x] = sums[31 - threadIdx.x];
}
extern "C" __global__ void uncleared_sum_correct(const int *in, int *out) {
    __shared__ int sums[32];
    sums[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[threadIdx.x], in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = sums[31 - threadIdx.x];
}

//@ pair   padding_column
//@ launch grid=1 block=32
//@ args   f32[256] f32[32]
//@ finds  UninitialisedShared lines=load threads=7,15,23,31
// The padding that avoids bank conflicts is read as if it were data.
extern "C" __global__ void padding_column_faulty(const float *in, float *out) {
    __shared__ float tile[32][9];
#pragma unroll 1
    for (int column = 0; column < 8; ++column)
        tile[threadIdx.x][column] = in[threadIdx.x * 8 + column];
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x][(threadIdx.x & 7) + 1]; // @load
}
extern "C" __global__ void padding_column_correct(const float *in, float *out) {
    __shared__ float tile[32][9];
#pragma unroll 1
    for (int column = 0; column < 8; ++column)
        tile[threadIdx.x][column] = in[threadIdx.x * 8 + column];
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x][threadIdx.x & 7];
}

//@ pair   half_written_word
//@ launch grid=1 block=32
//@ args   i32[32]
//@ finds  UninitialisedShared lines=load threads=0-31
// Two of the four bytes were written.
extern "C" __global__ void half_written_word_faulty(int *data) {
    __shared__ int words[32];
    *(short *)&words[threadIdx.x] = (short)data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = words[31 - threadIdx.x]; // @load
}
extern "C" __global__ void half_written_word_correct(int *data) {
    __shared__ int words[32];
    words[threadIdx.x] = (short)data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = words[31 - threadIdx.x];
}
