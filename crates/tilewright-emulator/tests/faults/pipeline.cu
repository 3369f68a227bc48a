// A pipeline of two stages, as the programming guide has it: copies of a block arrive while it computes.

#include <cooperative_groups.h>
#include <cuda/pipeline>

//@ pair   two_stages
//@ launch grid=1 block=64
//@ args   f32[256] f32[64] i32=4
//@ finds  UninitialisedShared lines=read threads=0-63
extern "C" __global__ void two_stages_faulty(const float *x, float *y, int batches) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ float buffer[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int c = 0, f = 0; c < batches; ++c) {
        for (; f < batches && f < c + 2; ++f) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[f % 2], x + f * 64, sizeof(float) * 64, pipe);
            pipe.producer_commit();
        }
        sum += buffer[c % 2][63 - threadIdx.x]; // @read
        pipe.consumer_release();
    }
    y[threadIdx.x] = sum;
}
extern "C" __global__ void two_stages_correct(const float *x, float *y, int batches) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ float buffer[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int c = 0, f = 0; c < batches; ++c) {
        for (; f < batches && f < c + 2; ++f) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[f % 2], x + f * 64, sizeof(float) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += buffer[c % 2][63 - threadIdx.x];
        pipe.consumer_release();
    }
    y[threadIdx.x] = sum;
}
