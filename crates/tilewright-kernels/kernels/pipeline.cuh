// A ring of stages in shared memory that one thread fills and warp groups empty.
#pragma once

#include "wgmma.cuh"

// Where a thread is on its way around the ring.
template <int STAGES> struct Place {
    int stage = 0;
    unsigned parity = 0;

    __device__ void advance()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }

    // Passes over stages that are another's.
    __device__ void skip(int count)
    {
        const int turns = (stage + count) / STAGES;
        stage += count - turns * STAGES;
        parity ^= turns & 1;
    }
};

// Two barriers for each stage: `full` when its bytes are there, `empty` when all that read it are done.
template <int STAGES> struct Ring {
    unsigned barriers;

    __device__ unsigned full(int stage) const { return barriers + 8 * stage; }
    __device__ unsigned empty(int stage) const { return barriers + 8 * (STAGES + stage); }

    // By one thread. So many threads fill a stage, and so many warps release it.
    __device__ void init(int threads, int warps) const
    {
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(full(stage), threads);
            init_barrier(empty(stage), warps);
        }
        publish_barriers();
    }

    __device__ void wait_until_full(Place<STAGES> at) const { wait_for_phase(full(at.stage), at.parity); }

    // A stage that was never filled is empty: the phase before the first counts as ended.
    __device__ void wait_until_empty(Place<STAGES> at) const { wait_for_phase(empty(at.stage), at.parity ^ 1); }

    // By all threads of a warp: it needs the stage no more, in any block of the cluster that filled it.
    template <int CLUSTER> __device__ void release(int stage) const
    {
        const int lane = threadIdx.x % WARP;
        if constexpr (CLUSTER == 1) {
            if (lane == 0) arrive(empty(stage));
        } else if (lane < CLUSTER) {
            arrive_at(empty(stage), lane);
        }
    }
};
