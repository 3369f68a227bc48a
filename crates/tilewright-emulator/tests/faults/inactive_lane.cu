// Shuffles that read lanes which do not execute them.

//@ pair   reduction_of_a_part
//@ launch grid=1 block=24
//@ args   f32[24] f32[1]
//@ finds  InactiveLane lines=shuffle threads=0
extern "C" __global__ void reduction_of_a_part_faulty(const float *in, float *out) {
    float sum = in[threadIdx.x];
    const unsigned mask = 0xffffff;
#pragma unroll 1
    for (int offset = 16; offset > 0; offset /= 2) {
        if (threadIdx.x < 16)
            sum += __shfl_down_sync(0xffff, sum, offset); // @shuffle
        __syncwarp(mask);
    }
    if (threadIdx.x == 0)
        out[0] = sum;
}
extern "C" __global__ void reduction_of_a_part_correct(const float *in, float *out) {
    float sum = in[threadIdx.x];
    const unsigned mask = 0xffffff;
#pragma unroll 1
    for (int offset = 16; offset > 0; offset /= 2) {
        const float other = __shfl_down_sync(mask, sum, offset);
        if (threadIdx.x + offset < 24)
            sum += other;
    }
    if (threadIdx.x == 0)
        out[0] = sum;
}

//@ pair   broadcast_from_elsewhere
//@ launch grid=1 block=32
//@ args   f32[32] f32[32]
//@ finds  InactiveLane lines=shuffle threads=0-7
extern "C" __global__ void broadcast_from_elsewhere_faulty(const float *in, float *out) {
    const float value = in[threadIdx.x];
    if (threadIdx.x < 8)
        out[threadIdx.x] = __shfl_sync(0xff, value, 9); // @shuffle
}
extern "C" __global__ void broadcast_from_elsewhere_correct(const float *in, float *out) {
    const float value = in[threadIdx.x];
    const float ninth = __shfl_sync(0xffffffff, value, 9);
    if (threadIdx.x < 8)
        out[threadIdx.x] = ninth;
}
