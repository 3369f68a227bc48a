// Two cases in turns: whether they want the same part of the multiprocessor. Also textures.
#pragma once
#include "arithmetic.cuh"
#include "global.cuh"
#include "shared.cuh"

// Four loads of shared memory, four of global memory that hit L1.
template <int BYTES, int LINES>
struct SharedAndGlobal {
    static constexpr int COUNT = 16;
    LoadShared<BYTES, 1> shared;
    AtPointer global;

    __device__ void begin(const Input& in) {
        shared.begin(in);
        global.start(in, LINES == 0 ? threadIdx.x % 32 * BYTES : threadIdx.x % LINES * 128 + threadIdx.x % 32 / (LINES ? LINES : 1) * 4);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 8; ++u) {
            shared.all ^= load_shared<BYTES>(shared.address + u * BYTES);
            global.all ^= load_global<BYTES, L1>(global.pointer + u * 128);
        }
        shared.address ^= shared.toggle;
        global.pointer += global.toggle;
    }
    __device__ unsigned end() { return shared.all ^ global.all; }
};

// Four-byte stores to shared memory and, side by side, to lines of global memory of the warp's own.
struct StoreSharedAndGlobal {
    static constexpr int COUNT = 16;
    StoreShared<4, 1> shared;
    AtPointer global;

    __device__ void begin(const Input& in) {
        shared.begin(in);
        global.start(in, (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 1024 + threadIdx.x % 32 * 4);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 8; ++u) {
            store_shared<4>(shared.address + u * 4, shared.all);
            store_global<4>(global.pointer + u * 128, global.all);
        }
        shared.address ^= shared.toggle;
        global.pointer += global.toggle;
    }
    __device__ unsigned end() { return shared.all ^ global.all; }
};

// A shuffle and a load of shared memory.
struct ShuffleAndShared {
    static constexpr int COUNT = 16;
    LoadShared<4, 1> shared;
    Many<Shuffle> shuffles;

    __device__ void begin(const Input& in) {
        shared.begin(in);
        shuffles.begin(in);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 8; ++u) {
            shared.all ^= load_shared<4>(shared.address + u * 4);
            Shuffle::step(shuffles.a[u], 0, 0, 0);
        }
        shared.address ^= shared.toggle;
    }
    __device__ unsigned end() { return shared.end() ^ shuffles.end(); }
};

// One load of shared memory and `N` multiply-adds.
template <int N>
struct SharedAndFma {
    static constexpr int COUNT = 16;
    LoadShared<4, 1> shared;
    Many<Ffma> fma;

    __device__ void begin(const Input& in) {
        shared.begin(in);
        fma.begin(in);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            shared.all ^= load_shared<4>(shared.address + u * 4);
#pragma unroll
            for (int i = 0; i < N; ++i) Ffma::step(fma.a[(u * N + i) % 8], fma.a[0], fma.x, fma.y);
        }
        shared.address ^= shared.toggle;
    }
    __device__ unsigned end() { return shared.end() ^ fma.end(); }
};

__constant__ cudaTextureObject_t texture_to_read;

// Point samples of a 2D texture of floats, 32 lanes in a row or in a column.
template <bool COLUMN>
struct LoadTexture {
    static constexpr int COUNT = 16;
    float x, y, step, all;

    __device__ void begin(const Input& in) {
        float lane = threadIdx.x % 32 + 0.5f;
        x = COLUMN ? 0.5f : lane, y = COLUMN ? lane : 0.5f;
        step = in.zero, all = 0;
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 16; ++u) all += tex2D<float>(texture_to_read, x + (COLUMN ? u : 0), y + (COLUMN ? 0 : u));
        x += step;
    }
    __device__ unsigned end() { return folded(all); }
};

inline void bind_texture(const Bench& bench) {
    cudaResourceDesc what{};
    what.resType = cudaResourceTypePitch2D;
    what.res.pitch2D = {bench.in.buffer, cudaCreateChannelDesc<float>(), 64, 64, 64 * sizeof(float)};
    cudaTextureDesc how{};
    how.filterMode = cudaFilterModePoint;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
    CHECK(cudaMemcpyToSymbol(texture_to_read, &texture, sizeof texture));
}
