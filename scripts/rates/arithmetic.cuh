// Instructions on registers. OP names one, and PTX computes %0 from %0 (the accumulator), %1 (another one), %2 and %3 (constants).
#pragma once
#include "harness.cuh"

#define OP(NAME, TYPE, LETTER, INSTRUCTIONS, PTX)                                                   \
    struct NAME {                                                                                    \
        using T = TYPE;                                                                              \
        static constexpr int COUNT = INSTRUCTIONS;                                                   \
        static __device__ void step(T& a, T b, T x, T y) {                                           \
            asm volatile(PTX : "+" LETTER(a) : LETTER(b), LETTER(x), LETTER(y));                     \
        }                                                                                            \
    };

using Word = unsigned;
using Long = unsigned long long;

OP(Ffma, float, "f", 1, "fma.rn.f32 %0, %0, %2, %3;")
OP(Fadd, float, "f", 1, "add.rn.f32 %0, %0, %2;")
OP(Fmul, float, "f", 1, "mul.rn.f32 %0, %0, %2;")
OP(Fmin, float, "f", 1, "min.f32 %0, %0, %1;")
OP(FsetSel, float, "f", 2, "{.reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %2, %0, p;}")

OP(Imad, Word, "r", 1, "mad.lo.s32 %0, %0, %2, %3;")
OP(ImadHigh, Word, "r", 1, "mad.hi.u32 %0, %0, %2, %3;")
OP(ImadWide, Long, "l", 1, "{.reg .u32 l, h; mov.b64 {l, h}, %0; mul.wide.u32 %0, l, h;}")
OP(Iadd, Word, "r", 1, "add.s32 %0, %0, %1;")
OP(Iadd3, Word, "r", 1, "{.reg .u32 t; add.s32 t, %0, %1; add.s32 %0, t, %2;}")
OP(Iadd64, Long, "l", 2, "add.s64 %0, %0, %1;")
OP(Lop3, Word, "r", 1, "lop3.b32 %0, %0, %1, %2, 0x6a;")
OP(Shift, Word, "r", 1, "shl.b32 %0, %0, %1;")
OP(Funnel, Word, "r", 1, "shf.l.wrap.b32 %0, %0, %1, %2;")
OP(Imin, Word, "r", 1, "min.s32 %0, %0, %1;")
OP(IsetSel, Word, "r", 2, "{.reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %0, p;}")
OP(Prmt, Word, "r", 1, "prmt.b32 %0, %0, %1, %2;")
OP(Popc, Word, "r", 1, "popc.b32 %0, %0;")
OP(Flo, Word, "r", 1, "bfind.u32 %0, %0;")
OP(Brev, Word, "r", 1, "brev.b32 %0, %0;")
OP(Dp4a, Word, "r", 1, "dp4a.s32.s32 %0, %0, %2, %3;")
OP(Imin3, Word, "r", 1, "{.reg .s32 t; min.s32 t, %0, %1; min.s32 %0, t, %2;}")
OP(IaddMin, Word, "r", 1, "{.reg .s32 t; add.s32 t, %1, %2; min.s32 %0, %0, t;}")
OP(IaddMin16x2, Word, "r", 1, "{.reg .b32 t; add.s16x2 t, %1, %2; min.s16x2 %0, %0, t;}")

OP(Hfma2, Word, "r", 1, "fma.rn.f16x2 %0, %0, %2, %3;")
OP(Hadd2, Word, "r", 1, "add.rn.f16x2 %0, %0, %2;")
OP(Hmin2, Word, "r", 1, "min.f16x2 %0, %0, %1;")
OP(BfFma2, Word, "r", 1, "fma.rn.bf16x2 %0, %0, %2, %3;")

OP(Dfma, double, "d", 1, "fma.rn.f64 %0, %0, %2, %3;")
OP(Dadd, double, "d", 1, "add.rn.f64 %0, %0, %2;")
OP(Dmul, double, "d", 1, "mul.rn.f64 %0, %0, %2;")

OP(FloatToInt, float, "f", 1, "{.reg .s32 t; cvt.rni.s32.f32 t, %0; mov.b32 %0, t;}")
OP(IntToFloat, Word, "r", 1, "{.reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t;}")
OP(ByteToFloat, Word, "r", 1, "{.reg .u8 b; .reg .f32 t; cvt.u8.u32 b, %0; cvt.rn.f32.u8 t, b; mov.b32 %0, t;}")
OP(Round, float, "f", 1, "cvt.rni.f32.f32 %0, %0;")
OP(HalfToFloat, float, "f", 1, "{.reg .b32 w; .reg .b16 l, h; mov.b32 w, %0; mov.b32 {l, h}, w; cvt.f32.f16 %0, l;}")
OP(PackBf16, float, "f", 1, "{.reg .b32 t; cvt.rn.bf16x2.f32 t, %0, %1; mov.b32 %0, t;}")
OP(DoubleAndBack, float, "f", 2, "{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}")
OP(IntToDoubleAndBack, Word, "r", 2, "{.reg .f64 t; cvt.rn.f64.s32 t, %0; cvt.rni.s32.f64 %0, t;}")

OP(Exp2, float, "f", 1, "ex2.approx.ftz.f32 %0, %0;")
OP(Log2, float, "f", 1, "lg2.approx.ftz.f32 %0, %0;")
OP(Rcp, float, "f", 1, "{.reg .f32 t; rcp.approx.ftz.f32 t, %0; add.rn.f32 %0, t, %2;}")
OP(Rsqrt, float, "f", 1, "rsqrt.approx.ftz.f32 %0, %0;")
OP(Sqrt, float, "f", 1, "sqrt.approx.ftz.f32 %0, %0;")
OP(Sin, float, "f", 1, "sin.approx.ftz.f32 %0, %0;")
OP(Tanh, float, "f", 1, "tanh.approx.f32 %0, %0;")

OP(Shuffle, Word, "r", 1, "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;")
OP(ShuffleIndex, Word, "r", 1, "shfl.sync.idx.b32 %0, %0, %1, 0x1f, 0xffffffff;")
OP(Ballot, Word, "r", 1, "{.reg .pred p; setp.ne.u32 p, %0, %2; vote.sync.ballot.b32 %0, p, 0xffffffff;}")
OP(Redux, Word, "r", 1, "redux.sync.add.s32 %0, %0, 0xffffffff;")
OP(MatchAny, Word, "r", 1, "match.any.sync.b32 %0, %0, 0xffffffff;")

// Eight chains side by side: rates.
template <class Op>
struct Many {
    static constexpr int COUNT = 64 * Op::COUNT;
    typename Op::T a[8], x, y;

    __device__ void begin(const Input& in) {
        for (int i = 0; i < 8; ++i) a[i] = seed<typename Op::T>(in, i);
        x = seed<typename Op::T>(in, 8), y = seed<typename Op::T>(in, 9);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 64; ++u) Op::step(a[u % 8], a[(u + 1) % 8], x, y);
    }
    __device__ unsigned end() {
        unsigned all = 0;
        for (int i = 0; i < 8; ++i) all ^= folded(a[i]);
        return all;
    }
};

// One chain: latency.
template <class Op>
struct Chain {
    static constexpr int COUNT = 64 * Op::COUNT;
    typename Op::T a, x, y;

    __device__ void begin(const Input& in) {
        a = seed<typename Op::T>(in, 0);
        x = seed<typename Op::T>(in, 1), y = seed<typename Op::T>(in, 2);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 64; ++u) Op::step(a, x, x, y);
    }
    __device__ unsigned end() { return folded(a); }
};

// P and Q in turns, p and q at a time. They overlap where they are different parts of the multiprocessor.
template <class P, int p, class Q, int q>
struct Mix {
    static constexpr int COUNT = 8 * (p * P::COUNT + q * Q::COUNT);
    Many<P> first;
    Many<Q> second;

    __device__ void begin(const Input& in) {
        first.begin(in);
        second.begin(in);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 8; ++u) {
#pragma unroll
            for (int i = 0; i < p; ++i) P::step(first.a[(u * p + i) % 8], first.a[(u * p + i + 1) % 8], first.x, first.y);
#pragma unroll
            for (int i = 0; i < q; ++i) Q::step(second.a[(u * q + i) % 8], second.a[(u * q + i + 1) % 8], second.x, second.y);
        }
    }
    __device__ unsigned end() { return first.end() ^ second.end(); }
};

// Multiply-adds as in a product: an outer product of registers, all three operands different.
struct OuterProduct {
    static constexpr int COUNT = 64;
    float a[8], b[8], c[4][8];

    __device__ void begin(const Input& in) {
        for (int i = 0; i < 8; ++i) a[i] = seed<float>(in, i), b[i] = seed<float>(in, i + 8);
        for (int i = 0; i < 32; ++i) c[i / 8][i % 8] = 0;
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 64; ++u) {
            int i = u / 8 % 4, j = u % 8;
            asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(c[i][j]) : "f"(a[i + u / 32 * 4]), "f"(b[j]));
        }
    }
    __device__ unsigned end() {
        unsigned all = 0;
        for (int i = 0; i < 32; ++i) all ^= folded(c[i / 8][i % 8]);
        return all;
    }
};

// An operand from constant memory at a known address.
__constant__ float constant_operand[64];
struct ConstantOperand {
    static constexpr int COUNT = 64;
    float a[8];

    __device__ void begin(const Input& in) {
        for (int i = 0; i < 8; ++i) a[i] = seed<float>(in, i);
    }
    __device__ void round() {
#pragma unroll
        for (int u = 0; u < 64; ++u) a[u % 8] = fmaf(a[u % 8], constant_operand[u], a[u % 8]);
    }
    __device__ unsigned end() {
        unsigned all = 0;
        for (int i = 0; i < 8; ++i) all ^= folded(a[i]);
        return all;
    }
};
