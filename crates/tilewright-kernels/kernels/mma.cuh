// Products of warps by tensor cores (`mma.sync`), and how their operands come from shared memory.
#pragma once

#include "config.cuh"
#include "float8.cuh"
#include "numbers.cuh"

// Four 8 x 8 matrices of 16-bit elements, or of as many bytes, from shared memory: lane 8 i + r tells where row r of matrix i lies. TURNED has each transposed.
template <bool TURNED> __device__ void load_matrices(unsigned (&x)[4], unsigned from)
{
    if constexpr (TURNED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(from)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(from)
                     : "memory");
    }
}

// d += a b: 16 rows, 8 columns, and the terms of 32 bytes. Thread `lane` has of a and b four bytes of terms 4 (lane % 4) and 16 further, of rows lane / 4 and 8 further or of column
// lane / 4; of d rows lane / 4 and 8 further, columns 2 (lane % 4) and the next.
__device__ inline void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], Half)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    for (int half = 0; half < 2; ++half) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
    }
#endif
}

// From compute capability 8.0 on.
__device__ inline void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], Bfloat16)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// f32, rounded to tf32 before; from compute capability 8.0 on.
__device__ inline void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], float)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Floats of 8 bits; from compute capability 8.9 on.
#define MULTIPLY_FLOATS(TYPE)                                                                                                                        \
    asm("mma.sync.aligned.m16n8k32.row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                 \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                                                             \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
__device__ inline void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], Float8E4m3) { MULTIPLY_FLOATS("e4m3"); }
__device__ inline void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], Float8E5m2) { MULTIPLY_FLOATS("e5m2"); }
#undef MULTIPLY_FLOATS

// Before compute capability 8.0 in four parts, of 8 rows and 16 terms.
#if __CUDA_ARCH__ >= 800
#define MULTIPLY_BYTES(TYPE)                                                                                                                         \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." TYPE "." TYPE ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                 \
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                                                             \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#else
#define MULTIPLY_BYTES(TYPE)                                                                                                                         \
    for (int i = 0; i < 4; ++i) {                                                                                                                    \
        asm("mma.sync.aligned.m8n8k16.row.col.s32." TYPE "." TYPE ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"                                              \
            : "+r"(d[i % 2 * 2]), "+r"(d[i % 2 * 2 + 1])                                                                                             \
            : "r"(a[i]), "r"(b[i / 2]));                                                                                                             \
    }
#endif
__device__ inline void multiply_add(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], signed char) { MULTIPLY_BYTES("s8"); }
__device__ inline void multiply_add(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], unsigned char) { MULTIPLY_BYTES("u8"); }
#undef MULTIPLY_BYTES
