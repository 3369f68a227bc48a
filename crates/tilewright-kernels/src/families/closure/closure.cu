// closure: the best paths inside a diagonal block of a matrix, in place.
//
// A block of at most HALF vertices is closed by Floyd and Warshall's loop. A larger one is closed by the steps that close
// a whole matrix: one half is closed and passed on to the other, by products, and then the other way round. Results have
// the same bits however large the blocks are that one launch closes.
//
// A thread keeps a rectangle of each quarter of the block in registers: rows ROWS * y and columns COLS * x of it and those
// behind them. What others need goes through shared memory, from where the side of a rectangle is read at a time. There is
// one block of threads: what counts is how many instructions a term takes.
#include "config.cuh"

constexpr int ROWS = 2, COLS = 4, HALF = 64, WIDE = HALF / COLS, HIGH = HALF / ROWS;
constexpr int SLICE = 32; // terms of a product between two barriers
constexpr int NONE = 0x7fffffff;

// A side of a rectangle, as it is read at a time.
template <int N>
struct alignas(N * sizeof(Acc) < 16 ? N * sizeof(Acc) : 16) Side {
    Acc of[N];
};
using Row = Side<COLS>;
using Column = Side<ROWS>;

struct Shared {
    Row rows[SLICE][WIDE + 1]; // an element more, so that lines begin in different banks
    Column columns[SLICE][HIGH + 1];
    Acc cycles[2 * HALF];
    int vertex;
};

using Rectangle = Acc[ROWS][COLS];

// What a thread keeps of the block: a rectangle of each quarter.
struct Block {
    Rectangle d[2][2];
    int n, x, y;
};

__device__ inline bool is_gain(Acc cycle, double slack)
{
    return S::add(S::one(), cycle) != S::one() && fabs(double(cycle) - double(S::one())) > slack;
}

__device__ inline Row row_of(const Rectangle& d, int i) { return {d[i][0], d[i][1], d[i][2], d[i][3]}; }

__device__ inline Column column_of(const Rectangle& d, int j) { return {d[0][j], d[1][j]}; }

__device__ inline void multiply_add(const Column& column, const Row& row, Rectangle& sums)
{
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLS; ++j) sums[i][j] = S::multiply_add(column.of[i], row.of[j], sums[i][j]);
}

// Floyd and Warshall's loop over the vertices of half P. There are two of row and column k, so that one barrier a step is
// enough. Before vertex k takes part, the weight of the best cycle through it is kept.
template <int P>
__device__ inline void close_half(Block& block, Shared& shared)
{
    Rectangle& d = block.d[P][P];
    const int x = block.x, y = block.y, vertices = min(HALF, block.n - P * HALF);
#pragma unroll 1 // which saves registers
    for (int first = 0; first < vertices; first += COLS)
#pragma unroll // so that registers are named by constants
        for (int j = 0; j < COLS && first + j < vertices; ++j) {
            const int k = first + j, i = j % ROWS, here = j % 2;
            const bool has_row = y == k / ROWS, has_column = x == k / COLS;
            if (has_row && has_column) {
                shared.cycles[P * HALF + k] = d[i][j];
                d[i][j] = S::one();
            }
            if (has_row) shared.rows[here][x] = row_of(d, i);
            if (has_column) shared.columns[here][y] = column_of(d, j);
            __syncthreads();
            multiply_add(shared.columns[here][y], shared.rows[here][x], d);
        }
}

// Adds to the sums the terms of half P: the columns of quarter [I][P] meet the rows of quarter [P][J].
template <int P, int I, int J>
__device__ inline void add_terms(const Block& block, Shared& shared, Rectangle& sums)
{
    const int x = block.x, y = block.y, terms = min(HALF, block.n - P * HALF);
#pragma unroll 1
    for (int first = 0; first < terms; first += SLICE) {
        __syncthreads(); // what was shared before has been read
        if (const int row = y * ROWS - first; 0 <= row && row < SLICE)
#pragma unroll
            for (int i = 0; i < ROWS; ++i) shared.rows[row + i][x] = row_of(block.d[P][J], i);
        if (const int column = x * COLS - first; 0 <= column && column < SLICE)
#pragma unroll
            for (int j = 0; j < COLS; ++j) shared.columns[column + j][y] = column_of(block.d[I][P], j);
        __syncthreads();
        const int count = min(SLICE, terms - first);
#pragma unroll 2
        for (int t = 0; t < count; ++t) multiply_add(shared.columns[t][y], shared.rows[t][x], sums);
    }
}

// Replaces quarter [I][J] by the product of quarters [I][P] and [P][J].
template <int P, int I, int J>
__device__ inline void multiply(Block& block, Shared& shared)
{
    Rectangle sums;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLS; ++j) sums[i][j] = S::zero();
    add_terms<P, I, J>(block, shared, sums);
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLS; ++j) block.d[I][J][i][j] = sums[i][j];
}

// Passes half P, which is closed, on to half R: D[p,r] = D[p,p] D[p,r], D[r,p] = D[r,p] D[p,p], and
// D[r,r] = D[r,r] + D[r,p] D[p,r].
template <int P, int R>
__device__ inline void pass(Block& block, Shared& shared)
{
    multiply<P, P, R>(block, shared);
    multiply<P, R, P>(block, shared);
    add_terms<P, R, R>(block, shared, block.d[R][R]);
    __syncthreads();
}

// Calls f(element, row, column) for each element that a thread keeps. A barrier keeps addresses from being computed all at
// once, for which there are no registers.
template <typename F>
__device__ inline void for_each_element(Block& block, F f)
{
#pragma unroll
    for (int p = 0; p < 2; ++p) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int j = 0; j < COLS; ++j)
                    f(block.d[p][r][i][j], p * HALF + block.y * ROWS + i, r * HALF + block.x * COLS + j);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(WIDE * HIGH)
closure(T* D, int N, long long d_row, long long d_col, double slack, int* gain)
{
    __shared__ Shared shared;
    Block block{{}, N, int(threadIdx.x) % WIDE, int(threadIdx.x) / WIDE};
    for_each_element(block, [&](Acc& element, int r, int c) {
        element = r < N && c < N ? S::widen(D[r * d_row + c * d_col]) : S::zero();
    });
    if (threadIdx.x == 0) shared.vertex = NONE;

    close_half<0>(block, shared);
    if (N > HALF) {
        pass<0, 1>(block, shared);
        close_half<1>(block, shared);
        pass<1, 0>(block, shared);
    }
    __syncthreads();

    // The first vertex, counted from 1, through which a cycle makes paths better, and by more than roundings do. What was
    // computed from there on is of no use.
    const int vertex = threadIdx.x;
    if (vertex < N && is_gain(shared.cycles[vertex], slack)) atomicMin(&shared.vertex, vertex + 1);
    __syncthreads();
    if (shared.vertex != NONE) {
        if (threadIdx.x == 0) *gain = shared.vertex; // and the block stays as it was
        return;
    }
    for_each_element(block, [&](Acc& element, int r, int c) {
        if (r < N && c < N) D[r * d_row + c * d_col] = S::template narrow<T>(element);
    });
}

// Writes both strips of a step into the matrix, a row a block: `from` holds first the P x R elements of the one on the
// right, then the R x P of the one below.
extern "C" __global__ void put_back(const T* from, T* right, T* down, int P, int R, long long d_row)
{
    const int row = blockIdx.x;
    const bool is_right = row < P;
    const int columns = is_right ? R : P;
    const long long strip = (long long)P * R;
    const T* source = from + (is_right ? (long long)row * R : strip + (long long)(row - P) * P);
    T* target = is_right ? right + row * d_row : down + (row - P) * d_row;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) target[c] = source[c];
}
