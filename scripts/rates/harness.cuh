// How a rate is measured: one block on each multiprocessor repeats rounds of a case, and its clock counts them.
//
// A case is a struct with
//     COUNT                 instructions of one warp in a round
//     begin(Input)          sets up registers and shared memory
//     round()               the instructions
//     end()                 a number that depends on all results, so that nothing is left out
// Two launches, of few and of many rounds, are subtracted: what begins and ends a launch drops out.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t code = (call);                                                                   \
        if (code != cudaSuccess) {                                                                   \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code));       \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (0)

constexpr int SHARED_BYTES = 48 * 1024;
constexpr size_t BUFFER_BYTES = size_t(4) << 30;

struct Input {
    unsigned* seeds;    // random words, 64 KiB
    unsigned* buffer;   // BUFFER_BYTES
    unsigned zero;      // 0, which the compiler does not know
    unsigned never;     // what no result is
};

struct Span {
    long long start, stop;
};

template <class T>
__device__ T seed(const Input& in, int i) {
    unsigned word = in.seeds[(threadIdx.x + 1024 * i) % 16384];
    if constexpr (sizeof(T) == 8) return T(word) + T(1);
    else if constexpr (T(0.5f) != T(0)) return T(1) + T(word) * T(1e-12f);
    else return T(word);
}

template <class T>
__device__ unsigned folded(T value) {
    if constexpr (sizeof(T) == 8) {
        unsigned long long bits;
        memcpy(&bits, &value, 8);
        return unsigned(bits) ^ unsigned(bits >> 32);
    } else {
        unsigned bits;
        memcpy(&bits, &value, 4);
        return bits;
    }
}

template <class Case>
__global__ void __launch_bounds__(1024) repeat(Input in, int rounds, Span* spans) {
    Case c;
    c.begin(in);
    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) c.round();
    unsigned kept = c.end();
    long long stop = clock64();
    if (kept == in.never) in.buffer[threadIdx.x] = kept;
    if (threadIdx.x % 32 == 0) spans[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {start, stop};
}

struct Bench {
    Input in;
    Span* spans;
    int multiprocessors;
    FILE* out;
    const char* only;

    bool wants(const char* part, const char* name) const {
        return !only || std::string(part).find(only) == 0 || std::string(name).find(only) == 0;
    }

    void row(const char* part, const std::string& name, double value, const char* unit) const {
        std::fprintf(out, "%s,%s,%.5g,%s\n", part, name.c_str(), value, unit);
        std::fflush(out);
    }
};

// Cycles of the median block.
template <class Case>
double block_cycles(const Bench& bench, int blocks, int threads, int rounds) {
    CHECK(cudaFuncSetAttribute(repeat<Case>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    repeat<Case><<<blocks, threads, SHARED_BYTES>>>(bench.in, rounds, bench.spans);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    int warps = threads / 32;
    std::vector<Span> spans(blocks * warps);
    CHECK(cudaMemcpy(spans.data(), bench.spans, spans.size() * sizeof(Span), cudaMemcpyDeviceToHost));
    std::vector<double> cycles;
    for (int b = 0; b < blocks; ++b) {
        long long first = spans[b * warps].start, last = spans[b * warps].stop;
        for (int w = 0; w < warps; ++w) {
            first = std::min(first, spans[b * warps + w].start);
            last = std::max(last, spans[b * warps + w].stop);
        }
        cycles.push_back(double(last - first));
    }
    std::nth_element(cycles.begin(), cycles.begin() + blocks / 2, cycles.end());
    return cycles[blocks / 2];
}

// Cycles of a multiprocessor for one instruction of a warp.
template <class Case>
double cycles_each(const Bench& bench, int blocks, int threads, int rounds) {
    block_cycles<Case>(bench, blocks, threads, rounds);
    double few = block_cycles<Case>(bench, blocks, threads, rounds);
    double many = block_cycles<Case>(bench, blocks, threads, 3 * rounds);
    return (many - few) / (2.0 * rounds * Case::COUNT * (threads / 32));
}
