// Global memory as one multiprocessor sees it: the address path and the data path of L1, and L2 behind it.
#pragma once
#include "harness.cuh"

enum Through { L1, L2 };

template <int BYTES, Through through>
__device__ unsigned load_global(const char* address) {
    unsigned a, b = 0, c = 0, d = 0;
    if constexpr (through == L1) {
        if constexpr (BYTES == 4) asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(address));
        if constexpr (BYTES == 8) asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(address));
        if constexpr (BYTES == 16)
            asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(address));
    } else {
        if constexpr (BYTES == 4) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(address));
        if constexpr (BYTES == 8) asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(address));
        if constexpr (BYTES == 16)
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(address));
    }
    return a ^ b ^ c ^ d;
}

template <int BYTES>
__device__ void store_global(char* address, unsigned value) {
    if constexpr (BYTES == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(value));
    if constexpr (BYTES == 8) asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(address), "r"(value));
    if constexpr (BYTES == 16) asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(address), "r"(value));
}

// The lanes of a warp touch `LINES` lines of 128 bytes, in each line `SECTORS` of 32 bytes.
template <int LINES, int SECTORS>
__device__ unsigned lines_and_sectors() {
    unsigned lane = threadIdx.x % 32;
    return lane % LINES * 128 + lane / LINES % SECTORS * 32 + lane / (LINES * SECTORS) * 4;
}

struct AtPointer {
    static constexpr int COUNT = 16;
    char* pointer;
    unsigned toggle, all;

    __device__ void start(const Input& in, unsigned long long offset) {
        pointer = (char*)in.buffer + offset;
        toggle = in.zero;
        all = in.seeds[threadIdx.x];
    }
    __device__ unsigned end() { return all; }
};

// Hits in L1.
template <int BYTES, int LINES, int SECTORS>
struct LoadLines : AtPointer {
    __device__ void begin(const Input& in) { start(in, lines_and_sectors<LINES, SECTORS>()); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all ^= load_global<BYTES, L1>(pointer + u * 128);
        pointer += toggle;
    }
};

// Rows `PITCH` bytes apart, `BYTES` of each, as a column of a matrix.
template <int ROWS, int PITCH, int BYTES>
struct LoadColumn : AtPointer {
    __device__ void begin(const Input& in) { start(in, threadIdx.x % ROWS * PITCH); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all ^= load_global<BYTES, L1>(pointer + u * BYTES);
        pointer += toggle;
    }
};

// Pieces of 16 bytes, four lanes each, in as many lines as pieces: a warp reads a tile of 8 rows, `PITCH` bytes apart.
template <int PITCH>
struct LoadTile : AtPointer {
    __device__ void begin(const Input& in) { start(in, threadIdx.x % 32 / 4 * PITCH + threadIdx.x % 4 * 4); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all ^= load_global<4, L1>(pointer + u * 16);
        pointer += toggle;
    }
};

// Lanes side by side, hits in L1.
template <int BYTES>
struct LoadRow : AtPointer {
    __device__ void begin(const Input& in) { start(in, threadIdx.x % 32 * BYTES); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all ^= load_global<BYTES, L1>(pointer + u * 128);
        pointer += toggle;
    }
};

template <int BYTES>
struct LoadSame : AtPointer {
    __device__ void begin(const Input& in) { start(in, 0); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all ^= load_global<BYTES, L1>(pointer + u * 128);
        pointer += toggle;
    }
};

// Each warp of the grid goes through a region of `MEGABYTES`, which the grid shares: 16 accesses of a round lie side by side.
// `SPREAD` bytes belong to one lane: more than BYTES leaves gaps.
template <int MEGABYTES, int BYTES, int SPREAD>
struct Region : AtPointer {
    static constexpr unsigned long long SIZE = (unsigned long long)MEGABYTES << 20;
    unsigned long long at, step;
    char* base;

    __device__ void begin(const Input& in) {
        unsigned warps = gridDim.x * blockDim.x / 32, warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        start(in, threadIdx.x % 32 * SPREAD);
        base = pointer;
        at = (unsigned long long)warp * (16 * 32 * SPREAD) % SIZE;
        step = (unsigned long long)warps * (16 * 32 * SPREAD) % SIZE;
    }
    __device__ char* next() {
        char* here = base + at;
        at += step;
        if (at >= SIZE) at -= SIZE;
        return here;
    }
};

template <int MEGABYTES, int BYTES, int SPREAD, Through through>
struct LoadRegion : Region<MEGABYTES, BYTES, SPREAD> {
    __device__ void round() {
        char* here = this->next();
#pragma unroll
        for (int u = 0; u < 16; ++u) this->all ^= load_global<BYTES, through>(here + u * 32 * SPREAD);
    }
};

template <int MEGABYTES, int BYTES, int SPREAD>
struct StoreRegion : Region<MEGABYTES, BYTES, SPREAD> {
    __device__ void round() {
        char* here = this->next();
#pragma unroll
        for (int u = 0; u < 16; ++u) store_global<BYTES>(here + u * 32 * SPREAD, this->all);
    }
};

// Atomics of global memory. `LANES` lanes of a warp add to each word; every warp has words of its own, or (`SHARED`) all the same.
template <int LANES, bool SHARED, bool RESULT>
struct AddGlobal : AtPointer {
    __device__ void begin(const Input& in) {
        unsigned warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        start(in, threadIdx.x % 32 / LANES * 4 + threadIdx.x * in.zero + (SHARED ? 0 : warp * 128));
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            unsigned old = 0;
            if constexpr (RESULT) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(pointer), "r"(toggle) : "memory");
            else asm volatile("red.global.add.u32 [%0], %1;" ::"l"(pointer), "r"(all) : "memory");
            all ^= old;
        }
        pointer += toggle;
    }
};

template <int LANES, bool SHARED>
struct AddFloatGlobal : AtPointer {
    __device__ void begin(const Input& in) {
        unsigned warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        start(in, threadIdx.x % 32 / LANES * 4 + threadIdx.x * in.zero + (SHARED ? 0 : warp * 128));
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(pointer) : "memory");
        pointer += toggle;
    }
};

// Latencies. The buffer holds zeros, or offsets to the next place.
template <Through through>
struct ChaseGlobal : AtPointer {
    __device__ void begin(const Input& in) { start(in, 0); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) pointer += load_global<4, through>(pointer);
        all ^= unsigned((unsigned long long)pointer);
    }
};

struct ChaseAddGlobal : AtPointer {
    __device__ void begin(const Input& in) { start(in, threadIdx.x * 4); }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            unsigned old;
            asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(pointer), "r"(toggle) : "memory");
            pointer += old;
        }
        all ^= unsigned((unsigned long long)pointer);
    }
};

// Places in the order of a permutation: place i holds the index of the next.
struct ChasePlaces {
    static constexpr int COUNT = 16;
    const unsigned* places;
    unsigned at;

    __device__ void begin(const Input& in) {
        places = in.buffer;
        at = in.zero;
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(places + at));
    }
    __device__ unsigned end() { return at; }
};
