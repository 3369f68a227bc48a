// Shared memory, constant memory and barriers.
#pragma once
#include "harness.cuh"

__device__ inline unsigned shared_start() {
    extern __shared__ __align__(1024) unsigned shared[];
    for (int i = threadIdx.x; i < SHARED_BYTES / 4; i += blockDim.x) shared[i] = 0;
    __syncthreads();
    return unsigned(__cvta_generic_to_shared(shared));
}

// Lanes side by side, except that `WAYS` lanes of those that go together (32 of 4 bytes, 8 of 16) want different words of each bank.
template <int BYTES, int WAYS>
__device__ unsigned lane_offset() {
    unsigned lane = threadIdx.x % 32, group = 128 / BYTES / WAYS;
    return lane % group * BYTES + lane / group * 128;
}

template <int BYTES>
__device__ unsigned load_shared(unsigned address) {
    unsigned a, b, c, d;
    if constexpr (BYTES == 4) {
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(address));
        return a;
    } else if constexpr (BYTES == 8) {
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(address));
        return a ^ b;
    } else {
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address));
        return a ^ b ^ c ^ d;
    }
}

template <int BYTES>
__device__ void store_shared(unsigned address, unsigned value) {
    if constexpr (BYTES == 4) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(value));
    if constexpr (BYTES == 8) asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(address), "r"(value));
    if constexpr (BYTES == 16) asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(value));
}

// All cases below: 16 instructions in a round, each at a constant distance from the first.
struct AtAddress {
    static constexpr int COUNT = 16;
    unsigned address, toggle, all;

    __device__ void start(const Input& in, unsigned offset) {
        address = shared_start() + offset;
        toggle = in.zero;
        all = in.seeds[threadIdx.x];
    }
    __device__ unsigned end() { return all; }
};

template <int BYTES, int WAYS>
struct LoadShared : AtAddress {
    __device__ void begin(const Input& in) { start(in, lane_offset<BYTES, WAYS>()); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all ^= load_shared<BYTES>(address + u * BYTES);
        address ^= toggle;
    }
};

// Every lane the same address.
template <int BYTES>
struct LoadSharedBroadcast : AtAddress {
    __device__ void begin(const Input& in) { start(in, 0); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all ^= load_shared<BYTES>(address + u * BYTES);
        address ^= toggle;
    }
};

template <int BYTES, int WAYS>
struct StoreShared : AtAddress {
    __device__ void begin(const Input& in) { start(in, lane_offset<BYTES, WAYS>()); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) store_shared<BYTES>(address + u * BYTES, all);
        address ^= toggle;
    }
};

template <int MATRICES>
struct LoadMatrix : AtAddress {
    __device__ void begin(const Input& in) { start(in, threadIdx.x % 32 * 16); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            unsigned a, b = 0, c = 0, d = 0, at = address + u * 512;
            if constexpr (MATRICES == 1)
                asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at));
            if constexpr (MATRICES == 2)
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
            if constexpr (MATRICES == 4)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
            all ^= a ^ b ^ c ^ d;
        }
        address ^= toggle;
    }
};

// `LANES` lanes of a warp add to each word: 1 is all words different, 32 is one word.
template <int LANES, bool RESULT>
struct AddShared : AtAddress {
    __device__ void begin(const Input& in) { start(in, threadIdx.x % 32 / LANES * 4 + threadIdx.x / 32 * 128); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            unsigned old = 0;
            if constexpr (RESULT)
                asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(address + u * 128), "r"(toggle) : "memory");
            else
                asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address + u * 128), "r"(all) : "memory");
            all ^= old;
        }
        address ^= toggle;
    }
};

// Different words of one bank.
template <int WAYS>
struct AddSharedConflict : AtAddress {
    __device__ void begin(const Input& in) { start(in, lane_offset<4, WAYS>()); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u)
            asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address + u * 4), "r"(all) : "memory");
        address ^= toggle;
    }
};

struct SwapShared : AtAddress {
    __device__ void begin(const Input& in) { start(in, threadIdx.x * 4); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            unsigned old;
            asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "r"(address + u % 8 * 4096), "r"(toggle), "r"(all) : "memory");
            all ^= old;
        }
        address ^= toggle;
    }
};

// Additions of floats are a loop of loads and compare-and-swaps.
struct AddFloatShared : AtAddress {
    __device__ void begin(const Input& in) { start(in, threadIdx.x * 4); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            float old;
            asm volatile("atom.shared.add.f32 %0, [%1], 0f3F800000;" : "=f"(old) : "r"(address + u % 8 * 4096) : "memory");
            all ^= folded(old);
        }
        address ^= toggle;
    }
};

// Constant memory: `WORDS` different addresses in a warp.
__constant__ unsigned constant_table[512];
template <int WORDS>
struct LoadConstant {
    static constexpr int COUNT = 8;
    unsigned at, toggle, all;

    __device__ void begin(const Input& in) {
        at = threadIdx.x % WORDS * 4 + in.seeds[0] * in.zero;
        toggle = in.zero;
        all = 0;
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 8; ++u) {
            unsigned value;
            asm volatile("ld.const.u32 %0, [%1];" : "=r"(value) : "l"((const char*)constant_table_start() + at + u * 128));
            all ^= value;
        }
        at ^= toggle;
    }
    __device__ static unsigned long long constant_table_start() {
        unsigned long long start;
        asm("{.reg .u64 g; mov.u64 g, %1; cvta.to.const.u64 %0, g;}" : "=l"(start) : "l"(constant_table));
        return start;
    }
    __device__ unsigned end() { return all; }
};

struct Barrier {
    static constexpr int COUNT = 16;
    __device__ void begin(const Input&) {}
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) __syncthreads();
    }
    __device__ unsigned end() { return 0; }
};

// Latencies: each address comes from what was loaded before.
struct ChaseShared : AtAddress {
    __device__ void begin(const Input& in) { start(in, 0); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) address += load_shared<4>(address);
        all ^= address;
    }
};

struct ChaseAddShared : AtAddress {
    __device__ void begin(const Input& in) { start(in, threadIdx.x * 4); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            unsigned old;
            asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(toggle) : "memory");
            address += old;
        }
        all ^= address;
    }
};

struct ChaseConstant {
    static constexpr int COUNT = 16;
    unsigned at;
    __device__ void begin(const Input& in) { at = in.zero * threadIdx.x; }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            unsigned value;
            asm volatile("ld.const.u32 %0, [%1];" : "=r"(value) : "l"(LoadConstant<1>::constant_table_start() + at));
            at += value;
        }
    }
    __device__ unsigned end() { return at; }
};
