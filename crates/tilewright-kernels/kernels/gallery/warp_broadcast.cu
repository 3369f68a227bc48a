// warp-broadcast: all lanes of a warp get the value of one lane, without memory.
//
// `shfl.sync.idx` reads a register of another lane.
#include "config.cuh"

extern "C" __global__ void warp_broadcast(const T* input, T* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const T mine = i < n ? input[i] : T(0);
    const T theirs = __shfl_sync(0xffffffffu, mine, LANE);
    if (i < n) output[i] = theirs;
}
