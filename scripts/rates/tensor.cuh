// Tensor cores: `mma.sync` of one warp, and `wgmma` of four.
#pragma once
#include "harness.cuh"

// Four accumulators side by side.
#define MMA(NAME, TYPE, ACCUMULATORS, STEP)                                                          \
    template <int CHAINS>                                                                            \
    struct NAME {                                                                                    \
        static constexpr int COUNT = 16;                                                             \
        TYPE c[CHAINS][ACCUMULATORS];                                                                \
        unsigned a[4], b[2];                                                                         \
        double da[8], db[4];                                                                         \
        __device__ void begin(const Input& in) {                                                     \
            for (int i = 0; i < CHAINS * ACCUMULATORS; ++i)                                          \
                c[i / ACCUMULATORS][i % ACCUMULATORS] = seed<TYPE>(in, i);                           \
            for (int i = 0; i < 4; ++i) a[i] = seed<unsigned>(in, i) & 0x3f3f3f3f;                   \
            for (int i = 0; i < 2; ++i) b[i] = seed<unsigned>(in, i + 4) & 0x3f3f3f3f;               \
            for (int i = 0; i < 8; ++i) da[i] = seed<float>(in, i);                                  \
            for (int i = 0; i < 4; ++i) db[i] = seed<float>(in, i);                                  \
        }                                                                                            \
        __device__ void round() {                                                                    \
            _Pragma("unroll") for (int u = 0; u < COUNT; ++u) {                                      \
                auto& d = c[u % CHAINS];                                                             \
                STEP;                                                                                \
            }                                                                                        \
        }                                                                                            \
        __device__ unsigned end() {                                                                  \
            unsigned all = 0;                                                                        \
            for (int i = 0; i < CHAINS * ACCUMULATORS; ++i)                                          \
                all ^= folded(c[i / ACCUMULATORS][i % ACCUMULATORS]);                                \
            return all;                                                                              \
        }                                                                                            \
    };

#define MMA_4_4_2(SHAPE, LETTER)                                                                     \
    asm volatile("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+" LETTER(d[0]), "+" LETTER(d[1]), "+" LETTER(d[2]), "+" LETTER(d[3])            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

MMA(MmaBf16, float, 4, MMA_4_4_2("m16n8k16.row.col.f32.bf16.bf16.f32", "f"))
MMA(MmaF16, float, 4, MMA_4_4_2("m16n8k16.row.col.f32.f16.f16.f32", "f"))
MMA(MmaTf32, float, 4, MMA_4_4_2("m16n8k8.row.col.f32.tf32.tf32.f32", "f"))
MMA(MmaI8, unsigned, 4, MMA_4_4_2("m16n8k32.row.col.s32.s8.s8.s32", "r"))
MMA(MmaB1, unsigned, 4, MMA_4_4_2("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "r"))
MMA(MmaF16Short, unsigned, 2,
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
MMA(MmaF64, double, 2,
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1]) : "d"(da[0]), "d"(db[0])))
MMA(MmaF64Large, double, 4,
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
                 "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(da[0]), "d"(da[1]), "d"(da[2]), "d"(da[3]), "d"(da[4]), "d"(da[5]), "d"(da[6]), "d"(da[7]),
                   "d"(db[0]), "d"(db[1]), "d"(db[2]), "d"(db[3])))

// `wgmma` m64n256: A and B in shared memory, swizzled rows of 128 bytes; accumulators in 128 registers.
__device__ inline unsigned long long matrix_descriptor(unsigned address) {
    return (1ull << 62) | (64ull << 32) | (1ull << 16) | ((address & 0x3ffff) >> 4);
}

#define D4(L, i) "+" L(d[i]), "+" L(d[i + 1]), "+" L(d[i + 2]), "+" L(d[i + 3])
#define D32(L, i) D4(L, i), D4(L, i + 4), D4(L, i + 8), D4(L, i + 12), D4(L, i + 16), D4(L, i + 20), D4(L, i + 24), D4(L, i + 28)
#define N8(t) "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define REGISTERS_128                                                                                \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " N8(1) N8(2) N8(3) N8(4) N8(5) N8(6) N8(7) N8(8) N8(9) N8(10) N8(11) \
    "%120, %121, %122, %123, %124, %125, %126, %127}"

#define WGMMA(NAME, TYPE, LETTER, SHAPE, SCALES)                                                     \
    __global__ void __launch_bounds__(256, 1) NAME(Input in, int rounds, Span* spans) {              \
        extern __shared__ __align__(1024) unsigned shared[];                                         \
        for (int i = threadIdx.x; i < SHARED_BYTES / 4; i += blockDim.x) shared[i] = in.seeds[i % 16384] & 0x3f3f3f3f; \
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                 \
        __syncthreads();                                                                             \
        unsigned base = unsigned(__cvta_generic_to_shared(shared));                                  \
        unsigned long long a = matrix_descriptor(base), b = matrix_descriptor(base + 16384);         \
        TYPE d[128];                                                                                 \
        _Pragma("unroll") for (int i = 0; i < 128; ++i) d[i] = 0;                                    \
        long long start = clock64();                                                                 \
        _Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {                                       \
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                  \
            _Pragma("unroll") for (int u = 0; u < 8; ++u)                                            \
                asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." SHAPE " " REGISTERS_128 ", %128, %129, p" SCALES ";}" \
                             : D32(LETTER, 0), D32(LETTER, 32), D32(LETTER, 64), D32(LETTER, 96)     \
                             : "l"(a), "l"(b));                                                      \
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                           \
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");                           \
        }                                                                                            \
        long long stop = clock64();                                                                  \
        TYPE all = 0;                                                                                \
        _Pragma("unroll") for (int i = 0; i < 128; ++i) all += d[i];                                 \
        if (folded(all) == in.never) in.buffer[threadIdx.x] = folded(all);                           \
        if (threadIdx.x % 32 == 0) spans[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {start, stop}; \
    }

WGMMA(wgmma_bf16, float, "f", "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0")
WGMMA(wgmma_tf32, float, "f", "m64n256k8.f32.tf32.tf32", ", 1, 1")
WGMMA(wgmma_e4m3, float, "f", "m64n256k32.f32.e4m3.e4m3", ", 1, 1")
WGMMA(wgmma_i8, unsigned, "r", "m64n256k32.s32.s8.s8", "")
WGMMA(wgmma_b1, unsigned, "r", "m64n256k256.s32.b1.b1.and.popc", "")
