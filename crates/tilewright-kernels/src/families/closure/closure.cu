// closure: the best paths inside a diagonal block of a matrix, in place.
//
// A block of at most HALF vertices is closed by Floyd and Warshall's loop. A larger one is closed by the steps that close
// a whole matrix: one half is closed and passed on to the other, by products, and then the other way round. Results have
// the same bits however large the blocks are that one launch closes.
//
// A thread keeps EACH x EACH elements in registers, LANES apart in both directions, so that every step has work for all
// threads. What others need goes through shared memory.
#include "config.cuh"

constexpr int LANES = 32, EACH = 4, IN_HALF = EACH / 2, HALF = LANES * IN_HALF;
constexpr int LINE = HALF + 1; // odd, so that neighbours in a column are in different banks

struct Shared {
    Acc rows[LANES][LINE], columns[LANES][LINE], cycle[2];
};

// The elements of a thread, and where they are.
struct Block {
    Acc d[EACH][EACH];
    int n, x, y;
};

__device__ inline bool is_gain(Acc cycle, double slack)
{
    return S::add(S::one(), cycle) != S::one() && fabs(double(cycle) - double(S::one())) > slack;
}

// Floyd and Warshall's loop over the vertices of a half, whose elements begin at d[P][P]. There are two of row and column
// k, so that one barrier a step is enough.
//
// Before vertex k takes part, the weight of the best cycle through it is looked at. One that makes paths better, and by
// more than roundings do, ends the kernel: its number, counted from 1, is the result, which is 0 otherwise.
template <int P>
__device__ inline int close_half(Block& block, Shared& shared, double slack)
{
    auto& d = block.d;
    const int x = block.x, y = block.y;
#pragma unroll // so that registers are named by constants
    for (int u = P; u < P + IN_HALF; ++u)
#pragma unroll 1 // which saves registers
        for (int t = 0; t < LANES && u * LANES + t < block.n; ++t) {
            const int here = t % 2;
            Acc *row = shared.rows[here], *column = shared.columns[here];
            if (x == t && y == t) {
                shared.cycle[here] = d[u][u];
                d[u][u] = S::one();
            }
#pragma unroll
            for (int i = 0; i < IN_HALF; ++i) {
                if (y == t) row[x + i * LANES] = d[u][P + i];
                if (x == t) column[y + i * LANES] = d[P + i][u];
            }
            __syncthreads();
            if (is_gain(shared.cycle[here], slack)) return u * LANES + t + 1;
#pragma unroll
            for (int i = 0; i < IN_HALF; ++i)
#pragma unroll
                for (int j = 0; j < IN_HALF; ++j)
                    d[P + i][P + j] =
                        S::multiply_add(column[y + i * LANES], row[x + j * LANES], d[P + i][P + j]);
        }
    return 0;
}

using Quarter = Acc[IN_HALF][IN_HALF];

// Adds to the sums the terms of the LANES vertices from d[.][U] on: the column of each meets its row. Sums are those of the
// quarter that begins at d[ROWS][COLUMNS_AT].
template <int ROWS, int COLUMNS_AT, int U>
__device__ inline void add_terms(const Block& block, Shared& shared, Quarter& sums)
{
    const int x = block.x, y = block.y;
    __syncthreads(); // what was shared before has been read
#pragma unroll
    for (int i = 0; i < IN_HALF; ++i) {
        shared.rows[y][x + i * LANES] = block.d[U][COLUMNS_AT + i];
        shared.columns[x][y + i * LANES] = block.d[ROWS + i][U];
    }
    __syncthreads();
    const int count = min(LANES, block.n - U * LANES);
#pragma unroll 2
    for (int t = 0; t < count; ++t)
#pragma unroll
        for (int i = 0; i < IN_HALF; ++i)
#pragma unroll
            for (int j = 0; j < IN_HALF; ++j)
                sums[i][j] = S::multiply_add(
                    shared.columns[t][y + i * LANES], shared.rows[t][x + j * LANES], sums[i][j]);
}

// Replaces a quarter by its product with the closed half that begins at d[P][P], or adds the product of both strips to it.
template <int P, int ROWS, int COLUMNS_AT>
__device__ inline void multiply(Block& block, Shared& shared, bool accumulate)
{
    Quarter sums;
#pragma unroll
    for (int i = 0; i < IN_HALF; ++i)
#pragma unroll
        for (int j = 0; j < IN_HALF; ++j)
            sums[i][j] = accumulate ? block.d[ROWS + i][COLUMNS_AT + j] : S::zero();
    add_terms<ROWS, COLUMNS_AT, P>(block, shared, sums);
    add_terms<ROWS, COLUMNS_AT, P + 1>(block, shared, sums);
#pragma unroll
    for (int i = 0; i < IN_HALF; ++i)
#pragma unroll
        for (int j = 0; j < IN_HALF; ++j) block.d[ROWS + i][COLUMNS_AT + j] = sums[i][j];
}

// Passes the half that begins at d[P][P], which is closed, on to the other one: D[p,r] = D[p,p] D[p,r], D[r,p] = D[r,p] D[p,p],
// and D[r,r] = D[r,r] + D[r,p] D[p,r].
template <int P, int R>
__device__ inline void pass(Block& block, Shared& shared)
{
    multiply<P, P, R>(block, shared, false);
    multiply<P, R, P>(block, shared, false);
    multiply<P, R, R>(block, shared, true);
    __syncthreads();
}

// The vertex, counted from 1, through which a cycle gains.
__device__ inline int close(Block& block, Shared& shared, double slack)
{
    if (const int vertex = close_half<0>(block, shared, slack)) return vertex;
    if (block.n <= HALF) return 0;
    pass<0, IN_HALF>(block, shared);
    if (const int vertex = close_half<IN_HALF>(block, shared, slack)) return vertex;
    pass<IN_HALF, 0>(block, shared);
    return 0;
}

extern "C" __global__ void __launch_bounds__(LANES * LANES)
closure(T* D, int N, long long d_row, long long d_col, double slack, int* gain)
{
    __shared__ Shared shared;
    Block block{{}, N, int(threadIdx.x) % LANES, int(threadIdx.x) / LANES};
    auto& d = block.d;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int r = block.y + i * LANES;
        const T* const line = D + r * d_row;
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int c = block.x + j * LANES;
            d[i][j] = r < N && c < N ? S::widen(line[c * d_col]) : S::zero();
        }
    }

    if (const int vertex = close(block, shared, slack)) {
        if (threadIdx.x == 0) *gain = vertex; // and the block stays as it was
        return;
    }

#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int r = block.y + i * LANES, c = block.x + j * LANES;
            if (r < N && c < N) D[r * d_row + c * d_col] = S::template narrow<T>(d[i][j]);
        }
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
