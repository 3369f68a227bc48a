// closure: the best paths inside a diagonal block of a matrix, in place.
//
// A block of at most HALF vertices is closed by Floyd and Warshall's loop. A larger one is closed by the steps that close
// a whole matrix: one half is closed and passed on to the other, by products, and then the other way round. Results have
// the same bits however large the blocks are that one launch closes.
//
// A thread keeps a square of each quarter of the block in registers: rows EACH * y and columns EACH * x of it and those behind
// them. What others need goes through shared memory, from where a pair of elements is read at a time. There is one block of
// threads: what counts is how many instructions a term takes.
#include "config.cuh"

constexpr int LANES = 32, EACH = 2, HALF = LANES * EACH;
constexpr int NONE = 0x7fffffff;
constexpr int LINE = HALF + 2; // whole pairs; few lines of neighbours begin in the same bank

struct alignas(EACH * sizeof(Acc)) Pair {
    Acc of[EACH];
};

struct Shared {
    Pair rows[LANES][LINE / EACH], columns[LANES][LINE / EACH];
    Acc cycles[2 * HALF];
    int vertex;
};

using Square = Acc[EACH][EACH];

// What a thread keeps of the block: a square of each quarter.
struct Block {
    Square d[2][2];
    int n, x, y;
};

__device__ inline bool is_gain(Acc cycle, double slack)
{
    return S::add(S::one(), cycle) != S::one() && fabs(double(cycle) - double(S::one())) > slack;
}

__device__ inline void multiply_add(const Pair& column, const Pair& row, Square& sums)
{
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) sums[i][j] = S::multiply_add(column.of[i], row.of[j], sums[i][j]);
}

// Floyd and Warshall's loop over the vertices of half P. There are two of row and column k, so that one barrier a step is
// enough. Before vertex k takes part, the weight of the best cycle through it is kept.
template <int P>
__device__ inline void close_half(Block& block, Shared& shared)
{
    Square& d = block.d[P][P];
    const int x = block.x, y = block.y, vertices = min(HALF, block.n - P * HALF);
#pragma unroll 1 // which saves registers
    for (int t = 0; t * EACH < vertices; ++t)
#pragma unroll // so that registers are named by constants
        for (int u = 0; u < EACH && t * EACH + u < vertices; ++u) {
            Pair *row = shared.rows[u], *column = shared.columns[u];
            if (y == t) { // a whole warp, or none of it
                if (x == t) {
                    shared.cycles[P * HALF + t * EACH + u] = d[u][u];
                    d[u][u] = S::one();
                }
                row[x] = {d[u][0], d[u][1]};
            }
            if (x == t) column[y] = {d[0][u], d[1][u]};
            __syncthreads();
            multiply_add(column[y], row[x], d);
        }
}

// Adds to the sums the terms of half P: the columns of squares [I][P] meet the rows of squares [P][J].
template <int P, int I, int J>
__device__ inline void add_terms(const Block& block, Shared& shared, Square& sums)
{
    const int x = block.x, y = block.y, terms = min(HALF, block.n - P * HALF);
    const Square &a = block.d[I][P], &b = block.d[P][J];
#pragma unroll
    for (int part = 0; part < EACH; ++part) {
        __syncthreads(); // what was shared before has been read
        if (y / (LANES / EACH) == part)
#pragma unroll
            for (int i = 0; i < EACH; ++i)
                shared.rows[y % (LANES / EACH) * EACH + i][x] = {b[i][0], b[i][1]};
        if (x / (LANES / EACH) == part)
#pragma unroll
            for (int j = 0; j < EACH; ++j)
                shared.columns[x % (LANES / EACH) * EACH + j][y] = {a[0][j], a[1][j]};
        __syncthreads();
        const int count = min(LANES, terms - part * LANES);
#pragma unroll 2
        for (int t = 0; t < count; ++t) multiply_add(shared.columns[t][y], shared.rows[t][x], sums);
    }
}

// Replaces squares [I][J] by the products of squares [I][P] and [P][J].
template <int P, int I, int J>
__device__ inline void multiply(Block& block, Shared& shared)
{
    Square sums;
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) sums[i][j] = S::zero();
    add_terms<P, I, J>(block, shared, sums);
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) block.d[I][J][i][j] = sums[i][j];
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

// Calls f(element, row, column) for each element that a thread keeps.
template <typename F>
__device__ inline void for_each_element(Block& block, F f)
{
#pragma unroll
    for (int p = 0; p < 2; ++p)
#pragma unroll
        for (int i = 0; i < EACH; ++i)
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int j = 0; j < EACH; ++j)
                    f(block.d[p][r][i][j], p * HALF + block.y * EACH + i, r * HALF + block.x * EACH + j);
}

extern "C" __global__ void __launch_bounds__(LANES * LANES)
closure(T* D, int N, long long d_row, long long d_col, double slack, int* gain)
{
    __shared__ Shared shared;
    Block block{{}, N, int(threadIdx.x) % LANES, int(threadIdx.x) / LANES};
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
