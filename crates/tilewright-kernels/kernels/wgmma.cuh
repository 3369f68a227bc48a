// What Hopper adds to PTX for products: barriers that count bytes, copies of boxes of tensors, products of warp groups.
#pragma once

#include "ptx.cuh"

// A tensor as the tensor memory accelerator (TMA) sees it; the driver encodes it.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

// Threads that compute a product together.
enum : int { WARP = 32, WARP_GROUP = 128 };

// One thread of a warp, the same at each call.
__device__ inline bool is_elected()
{
    unsigned elected;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
    return elected != 0;
}

// A barrier in shared memory (mbarrier), whose phases end when all have arrived and all bytes are there.
__device__ inline void init_barrier(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes barriers known to other blocks and to TMA; behind it comes a barrier of the block or cluster.
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Arrives, and has the phase wait for so many bytes.
__device__ inline void expect_bytes(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Arrives at the barrier in the same place of a block of the cluster.
__device__ inline void arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

// Arrives at a barrier of this block.
__device__ inline void arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at a barrier of this block when the thread's copies so far are there (`copy_async`).
__device__ inline void arrive_with_copies(unsigned barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// Waits until the phase of this parity has ended.
__device__ inline void wait_for_phase(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 0x989680;\n"
                 "@!done bra again;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// Copies the box at these coordinates to shared memory. The barrier counts its bytes.
__device__ inline void load_box(unsigned to, const TensorMap& from, unsigned barrier, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(&from), "r"(barrier), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

// The same for all blocks of the cluster in `blocks`, to the same place in each; each one's barrier counts the bytes.
__device__ inline void load_box_for(unsigned short blocks, unsigned to, const TensorMap& from, unsigned barrier, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
                 "l"(&from), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(blocks)
                 : "memory");
}

// Copies a box from shared memory. What was written there must be visible to TMA: see `show_to_copies`.
__device__ inline void store_box(const TensorMap& to, unsigned from, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&to), "r"(from),
                 "r"(x), "r"(y), "r"(z)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most PENDING of this thread's stores have yet to read shared memory.
template <int PENDING> __device__ void wait_for_stores()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

// Makes this thread's writes to shared memory visible to copies of boxes.
__device__ inline void show_to_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Fetches what describes a tensor.
__device__ inline void prefetch(const TensorMap& map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// All threads of the cluster meet.
__device__ inline void meet_cluster()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ inline unsigned rank_in_cluster()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// The named barrier: waits until so many threads have come, or comes without waiting.
__device__ inline void wait_at(int name, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory"); }
__device__ inline void come_to(int name, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory"); }

// Gives registers of the warp group back, or takes some.
template <int REGISTERS> __device__ void give_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }
template <int REGISTERS> __device__ void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }

// Begins a series of products: what registers hold is seen by them.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Waits until at most PENDING series are under way.
template <int PENDING> __device__ void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory"); }

// Four 8 x 8 matrices of 16-bit elements from registers to shared memory; lane 8 i + r tells where row r of matrix i goes.
__device__ inline void store_matrices(unsigned to, const unsigned (&x)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
}

// Writes two neighbours, or 16 zero bytes, to shared memory.
__device__ inline void store_shared(unsigned to, int left, int right)
{
    asm volatile("st.shared.v2.s32 [%0], {%1, %2};" ::"r"(to), "r"(left), "r"(right) : "memory");
}
__device__ inline void store_shared(unsigned to, float left, float right) { store_shared(to, __float_as_int(left), __float_as_int(right)); }
__device__ inline void clear_shared(unsigned to) { asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory"); }
