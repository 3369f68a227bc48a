// How an operand lies in shared memory, as `wgmma` takes it: tiles that TMA has copied with the swizzle of 128 bytes.
#pragma once

// Bytes of a row of a box, and of the terms that one instruction takes.
enum : int { ROW_BYTES = 128, STEP_BYTES = 32 };

// A tile of an operand with SIDE rows (of A) or columns (of B), and as many terms as 128 bytes hold.
//
// By terms (K-major), a row of shared memory has the terms of one row of the operand, and a box has all rows. Otherwise (MN-major) it has 64 rows of the operand
// at one term, and a box has all 64 terms; the last box may have more rows than the tile. Only elements of 16 bits lie so.
template <int SIDE, bool BY_TERMS> struct OperandTile {
    enum : int { ACROSS = 64, BOXES = BY_TERMS ? 1 : (SIDE + ACROSS - 1) / ACROSS, BOX_BYTES = (BY_TERMS ? SIDE : ACROSS) * ROW_BYTES, BYTES = BOXES * BOX_BYTES };

    // Where the 64 rows or columns from 64 `block` on begin, at the terms of instruction `step`, in bytes.
    static __device__ constexpr int offset(int block, int step)
    {
        return block * 64 * ROW_BYTES + step * (BY_TERMS ? STEP_BYTES : STEP_BYTES / 2 * ROW_BYTES);
    }

    // The descriptor of a place in shared memory: address, leading and stride byte offset in units of 16 bytes, swizzle of 128 bytes.
    static __device__ unsigned long long descriptor(unsigned address)
    {
        constexpr unsigned long long leading = BY_TERMS ? 1 : BOX_BYTES / 16, stride = 8 * ROW_BYTES / 16;
        constexpr unsigned long long fixed = leading << 16 | stride << 32 | 1ull << 62;
        return fixed | (address & 0x3ffff) >> 4;
    }
};
