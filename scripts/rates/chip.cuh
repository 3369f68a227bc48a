// The whole chip: DRAM, launches, the clock. Times by events.
#pragma once
#include "harness.cuh"
#include <chrono>

template <class Launch>
double microseconds(int repeats, Launch launch) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int r = 0; r < repeats; ++r) {
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        times.push_back(ms * 1000);
    }
    CHECK(cudaGetLastError());
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[repeats / 2];
}

__global__ void read_all(const uint4* from, size_t n, unsigned never, unsigned* out) {
    unsigned all = 0;
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += 4 * stride) {
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (i + u * stride < n) {
                uint4 v = __ldcs(from + i + u * stride);
                all ^= v.x ^ v.y ^ v.z ^ v.w;
            }
    }
    if (all == never) *out = all;
}

__global__ void write_all(uint4* to, size_t n, unsigned value) {
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) to[i] = make_uint4(value, value, value, value);
}

__global__ void copy_all(const uint4* from, uint4* to, size_t n) {
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += 4 * stride) {
        uint4 v[4];
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (i + u * stride < n) v[u] = from[i + u * stride];
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (i + u * stride < n) to[i + u * stride] = v[u];
    }
}

// One thread for each element, as most programs are written.
__global__ void copy_words(const float* from, float* to) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

// One word of each `apart` bytes.
__global__ void read_sparse(const char* from, size_t bytes, unsigned apart, unsigned never, unsigned* out) {
    unsigned all = 0;
    size_t stride = size_t(gridDim.x) * blockDim.x * apart;
    for (size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * apart; i < bytes; i += 4 * stride) {
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (i + u * stride < bytes) all ^= *(const unsigned*)(from + i + u * stride);
    }
    if (all == never) *out = all;
}

__global__ void empty() {}

__global__ void clocks(long long* out, int rounds) {
    long long cycles = clock64(), time, later;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    for (int i = 0; i < rounds; ++i) __nanosleep(1000);
    long long end = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(later));
    out[0] = end - cycles, out[1] = later - time;
}

inline void measure_chip(const Bench& bench) {
    int sms = bench.multiprocessors;
    size_t bytes = BUFFER_BYTES / 2;
    uint4* a = (uint4*)bench.in.buffer;
    uint4* b = a + bytes / 16;
    unsigned never = bench.in.never, *out = bench.in.seeds;
    auto rate = [&](const char* name, double moved, auto launch) {
        launch();
        bench.row("dram", name, moved / microseconds(5, launch) * 1e-3, "GB/s");
    };
    rate("read", bytes, [&] { read_all<<<sms * 2, 1024>>>(a, bytes / 16, never, out); });
    rate("write", bytes, [&] { write_all<<<sms * 2, 1024>>>(a, bytes / 16, 1); });
    rate("copy_16_bytes_read_and_written", 2.0 * bytes, [&] { copy_all<<<sms * 2, 1024>>>(a, b, bytes / 16); });
    rate("copy_words_one_thread_each_read_and_written", 2.0 * bytes, [&] { copy_words<<<bytes / 4 / 256, 256>>>((float*)a, (float*)b); });
    for (unsigned apart : {32, 64, 128, 256})
        rate(("sectors_of_32_bytes_" + std::to_string(apart) + "_apart").c_str(), double(bytes) / apart * 32,
             [&] { read_sparse<<<sms * 2, 1024>>>((char*)a, bytes, apart, never, out); });
    for (int blocks : {1, 8, 33, 66})
        rate(("read_by_" + std::to_string(blocks) + "_multiprocessors").c_str(), double(bytes) / 16,
             [&] { read_all<<<blocks, 1024>>>(a, bytes / 256, never, out); });
    for (size_t megabytes : {1, 4, 16, 64, 256})
        rate(("read_" + std::to_string(megabytes) + "_MiB_cold").c_str(), double(megabytes << 20), [&] {
            static size_t turn = 0;
            turn = (turn + 1) % 7;
            read_all<<<sms * 2, 1024>>>(a + turn * (256 << 20) / 16, (megabytes << 20) / 16, never, out);
        });

    bench.row("launch", "empty_kernel_between_events", microseconds(101, [] { empty<<<1, 32>>>(); }), "us");
    bench.row("launch", "empty_kernels_back_to_back", microseconds(11, [] {
        for (int i = 0; i < 1000; ++i) empty<<<1, 32>>>();
    }) / 1000, "us");
    bench.row("launch", "nothing_between_events", microseconds(101, [] {}), "us");
    std::vector<double> waits;
    for (int i = 0; i < 101; ++i) {
        auto began = std::chrono::steady_clock::now();
        empty<<<1, 32>>>();
        CHECK(cudaDeviceSynchronize());
        waits.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
    }
    std::sort(waits.begin(), waits.end());
    bench.row("launch", "empty_kernel_and_wait_on_the_host", waits[50], "us");
    for (int threads : {32, 128, 256, 1024}) {
        double few = microseconds(11, [&] { empty<<<132 * 64, threads>>>(); });
        double many = microseconds(11, [&] { empty<<<132 * 1024, threads>>>(); });
        bench.row("launch", "each_block_of_" + std::to_string(threads) + "_threads", (many - few) * 1000 / (132.0 * 960), "ns");
    }
}
