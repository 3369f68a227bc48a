// Products of f64 by tensor cores: the instruction, and operands in shared memory as it takes them.
#pragma once

#include "wgmma.cuh"

// Terms of a register of an operand, and of an instruction; rows and columns that a thread finds its own among.
enum : int { FOUR = 4, EIGHT = 8 };

// Adds the product of 16 rows and 8 columns, of 8 terms each, to four sums of each thread. Thread `lane` has rows lane / 4 and 8 more of A in turns, at term lane % 4 and
// then 4 more, and column lane / 4 of B at the same terms. Its sums are those of its rows in columns 2 (lane % 4) and the next.
__device__ inline void multiply_add(double (&sums)[4], const double (&a)[4], const double (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

// Which of eight rows, columns or terms an instruction's number stands for. The sixteen lanes that shared memory serves together take their numbers of four rows and four
// terms: in this order those lie in all banks. TMA exchanges units of 16 bytes of a line by the last three bits of the line's number.
__device__ constexpr int among_eight(int x) { return x % 2 + x / 2 % 2 * 4 + x / 4 * 2; }

// A tile of an operand with SIDE rows (of A) or columns (of B), and DEPTH terms, in boxes of lines of 128 bytes, which hold DEPTH terms of one row, or as many rows at one term.
template <int SIDE, int DEPTH, bool BY_TERMS> struct OperandTile {
    enum : int { LINE = DEPTH * sizeof(double), BYTES = SIDE * LINE, BOX_SIDE = BY_TERMS ? SIDE : DEPTH, BOXES = SIDE / BOX_SIDE, BOX = BYTES / BOXES };
    static_assert(LINE == 128, "lines are those of the swizzle");

    // Where a number lies in the tile, in bytes.
    static __device__ int place(int side, int term)
    {
        const int line = BY_TERMS ? side : side / DEPTH * DEPTH + term, at = BY_TERMS ? term : side % DEPTH;
        return line * LINE + (at / 2 ^ line % 8) * 16 + at % 2 * sizeof(double);
    }

    // Where this thread finds its numbers in the rows from `side` on.
    struct Reader {
        // Of even and of odd eights, by terms of terms and otherwise of rows, each for the first FOUR of eight terms and for the others.
        unsigned from[4];

        __device__ Reader(unsigned tile, int side)
        {
            const int lane = threadIdx.x % WARP;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int row = among_eight(lane / 4), term = among_eight(lane % 4 + i % 2 * FOUR), odd = i / 2 * EIGHT;
                from[i] = tile + (BY_TERMS ? place(side + row, term + odd) : place(side + row + odd, term));
            }
        }

        // A row among eight, at a term among FOUR, of a stage that begins so many bytes later.
        __device__ double read(int stage, int eight, int four) const
        {
            constexpr int EIGHT_ROWS = EIGHT * LINE;
            const int which = BY_TERMS ? four : eight % 2 * 2 + four % 2;
            const int offset = BY_TERMS ? eight * EIGHT_ROWS : eight / 2 * BOX + four / 2 * EIGHT_ROWS;
            double x;
            asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(from[which] + stage + offset) : "memory");
            return x;
        }
    };

    // Copies the tile that begins at this row and term, by one thread.
    static __device__ void copy(unsigned to, const TensorMap& map, unsigned barrier, int side, int term, int batch)
    {
#pragma unroll
        for (int box = 0; box < BOXES; ++box) {
            const int at = side + box * BOX_SIDE;
            load_box(to + box * BOX, map, barrier, BY_TERMS ? term : at, BY_TERMS ? at : term, batch);
        }
    }
};
