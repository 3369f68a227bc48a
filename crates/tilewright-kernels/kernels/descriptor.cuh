// How an operand lies in shared memory, as `wgmma` takes it: tiles that TMA has copied with the swizzle of 128 bytes.
#pragma once

// Bytes of a row of a box: 64 elements of 16 bits.
enum : int { ROW_BYTES = 128, ROW_ELEMENTS = 64 };

// A tile of an operand with SIDE rows (of A) or columns (of B), and DEPTH terms.
//
// By terms (K-major), a row of shared memory has 64 terms of one row of the operand, and a box has all rows. Otherwise (MN-major) it has 64 rows of the operand
// at one term, and a box has all terms: there are SIDE / 64 of them.
template <int SIDE, int DEPTH, bool BY_TERMS> struct OperandTile {
    enum : int { BYTES = SIDE * DEPTH * 2, BOX_BYTES = BY_TERMS ? BYTES : DEPTH * ROW_BYTES };

    // Where the 64 rows or columns from 64 `block` on begin, at the terms from 16 `step` on, in bytes.
    static __device__ constexpr int offset(int block, int step)
    {
        return block * (BY_TERMS ? 64 : DEPTH) * ROW_BYTES + step * (BY_TERMS ? 32 : 16 * ROW_BYTES);
    }

    // The descriptor of a place in shared memory: address, leading and stride byte offset in units of 16 bytes, swizzle of 128 bytes.
    static __device__ unsigned long long descriptor(unsigned address)
    {
        constexpr unsigned long long leading = BY_TERMS ? 1 : DEPTH * ROW_BYTES / 16, stride = 8 * ROW_BYTES / 16;
        constexpr unsigned long long fixed = leading << 16 | stride << 32 | 1ull << 62;
        return fixed | (address & 0x3ffff) >> 4;
    }
};
