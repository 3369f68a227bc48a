// tensor_copy: copies operands that the tensor memory accelerator or the instruction cannot read: each row has its terms as neighbours then, or each term its rows, and begins
// at a multiple of 16 bytes.
#include "config.cuh"
#include "ptx.cuh"

// An element by its bits, and how many are written at a time.
template <int BYTES> struct Bits;
template <> struct Bits<1> {
    using Type = unsigned char;
};
template <> struct Bits<2> {
    using Type = unsigned short;
};
template <> struct Bits<4> {
    using Type = unsigned;
};
template <> struct Bits<8> {
    using Type = unsigned long long;
};
using Element = Bits<sizeof(T)>::Type;
enum : int { PIECE = 16 / sizeof(T) };
struct alignas(16) Piece {
    Element at[PIECE];
};

// An operand: row r of product z becomes `pieces` times 16 bytes at to[(z * rows + r) * pieces], those beyond `cols` zeros.
struct Operand {
    const Element* from;
    Piece* to;
    int rows, cols;
    long long row_stride, col_stride, batch_stride;
    int pieces, products;
};

// One piece after another; neighbouring threads read along a row.
__device__ void copy(const Operand& operand)
{
    const long long count = static_cast<long long>(operand.rows) * operand.pieces * operand.products, threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const long long line = i / operand.pieces;
        const int col = int(i % operand.pieces) * PIECE;
        const Element* from = operand.from + line / operand.rows * operand.batch_stride + line % operand.rows * operand.row_stride + col * operand.col_stride;
        Piece piece;
#pragma unroll
        for (int x = 0; x < PIECE; ++x) piece.at[x] = col + x < operand.cols ? from[x * operand.col_stride] : Element(0);
        operand.to[i] = piece;
    }
}

// Rows that a thread turns: as many as 4 bytes hold.
enum : int { WORD = sizeof(T) < 4 ? 4 / sizeof(T) : 1 };

// Elements of these rows, which are neighbours; at most `rows` of them are there.
__device__ unsigned load_word(const Element* from, int rows)
{
    if (rows >= WORD && reinterpret_cast<unsigned long long>(from) % 4 == 0) return *reinterpret_cast<const unsigned*>(from);
    unsigned word = 0;
#pragma unroll
    for (int r = 0; r < WORD; ++r) {
        if (r < rows) word |= unsigned(from[r]) << r * 8 * sizeof(T);
    }
    return word;
}

// An operand whose rows are neighbours. A thread reads a word at each term of a piece, and writes the piece of each of the word's rows. Neighbouring threads take two pieces of
// the same rows, which are a sector, and then the next rows.
__device__ void turn(const Operand& operand)
{
    const int groups = (operand.rows + WORD - 1) / WORD, pairs = (operand.pieces + 1) / 2;
    const long long count = 2ll * groups * pairs * operand.products, threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const long long pair = i / 2 / groups, product = pair / pairs;
        const int row = int(i / 2 % groups) * WORD, piece = int(pair % pairs) * 2 + int(i % 2), col = piece * PIECE;
        if (piece >= operand.pieces) continue;
        const Element* from = operand.from + product * operand.batch_stride + row + col * operand.col_stride;
        unsigned words[PIECE];
#pragma unroll
        for (int x = 0; x < PIECE; ++x) words[x] = col + x < operand.cols ? load_word(from + x * operand.col_stride, operand.rows - row) : 0;
#pragma unroll
        for (int r = 0; r < WORD; ++r) {
            if (row + r >= operand.rows) break;
            Piece out;
#pragma unroll
            for (int x = 0; x < PIECE; ++x) out.at[x] = Element(words[x] >> r * 8 * sizeof(T));
            operand.to[(product * operand.rows + row + r) * operand.pieces + piece] = out;
        }
    }
}

// Others may lie across.
enum : bool { TURNS = sizeof(T) == 1 || sizeof(T) == 4 };

__device__ void renew(const Operand& operand, int turns)
{
    if constexpr (TURNS) {
        if (turns != 0) return turn(operand);
    }
    copy(operand);
}

// Copies A, B or both; one without rows stays.
extern "C" __global__ void __launch_bounds__(256)
    tensor_copy(const Element* A, Piece* copied_a, int a_rows, int a_cols, long long a_row, long long a_col, long long a_batch, int a_pieces, int a_products, int turns_a,
               const Element* B, Piece* copied_b, int b_rows, int b_cols, long long b_row, long long b_col, long long b_batch, int b_pieces, int b_products, int turns_b)
{
    let_next_kernel_start();
    wait_for_previous_kernel();
    renew({A, copied_a, a_rows, a_cols, a_row, a_col, a_batch, a_pieces, a_products}, turns_a);
    renew({B, copied_b, b_rows, b_cols, b_row, b_col, b_batch, b_pieces, b_products}, turns_b);
}
