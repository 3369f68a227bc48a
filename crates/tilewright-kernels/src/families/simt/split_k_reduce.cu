// split-k-reduce: adds the parts of those tiles of C that `simt` computed in parts.
//
// The result is the same in every run: GROUPS groups of threads add neighbouring parts in the order of k, and the first adds
// what they have, in their order. Several groups are for few elements with many parts; where there are many elements, a
// thread takes COUNT of them, whose reads are under way together.
#include "config.cuh"
#include "coded.cuh"
#include "finish.cuh"
#include "order.cuh"
#include "ptx.cuh"
#include "turn.cuh"

// Writes an element of C for a complete sum.
template <class Semiring> __device__ void write(Out* to, Scalar sum, Scalar alpha, Scalar beta, const Bias& bias, int row, int col)
{
    if constexpr (BIAS || ACTIVATION) {
        Scalar x = Semiring::multiply(alpha, sum);
        if (beta != Semiring::zero()) x = joined<Semiring>(Semiring::widen(*to), x, beta);
        *to = Semiring::template narrow<Out>(bias.finish(x, row, col));
    } else {
        update<Semiring>(to, sum, alpha, beta);
    }
}

constexpr int THREADS = 256, LANES = THREADS / GROUPS;
static_assert(COUNT == 1 || GROUPS == 1, "groups add one element per thread");

extern "C" __global__ void __launch_bounds__(THREADS)
split_k_reduce(const Acc* parts, Out* C, int M, int N, int whole, int splits, long long c_row, long long c_col,
               long long c_batch, int first_batch, Scalar alpha, Scalar beta, const int* found, int finders, int earlier, int own,
               const Out* bias, long long bias_row, long long bias_col)
{
    const int columns_of_words = (N + COLUMNS - 1) / COLUMNS;
    const int tiles_m = (M + TILE_M - 1) / TILE_M, tiles_n = (columns_of_words + TILE_N - 1) / TILE_N;
    const int group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int first = blockIdx.y * LANES * COUNT + lane;  // element of the tile
    const long long batch = first_batch + blockIdx.z, step = (long long)(tiles_m * tiles_n - whole) * (TILE_M * TILE_N);
    const Acc* part = parts + blockIdx.z * splits * step + (long long)blockIdx.x * (TILE_M * TILE_N) + first;

    const int each = (splits + GROUPS - 1) / GROUPS, end = min(splits, (group + 1) * each);
    wait_for_previous_kernel();
    if constexpr (TURN) {
        if (!is_turn_of_block(found, finders, earlier, own)) return;
    }
    Acc sum[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) sum[i] = S::zero();
#pragma unroll 4
    for (int s = group * each; s < end; ++s)
#pragma unroll
        for (int i = 0; i < COUNT; ++i) sum[i] = S::add(sum[i], S::widen(part[s * step + i * LANES]));
    if constexpr (GROUPS > 1) {
        __shared__ Acc sums[THREADS];
        sums[threadIdx.x] = sum[0];
        __syncthreads();
        if (group > 0) return;
#pragma unroll
        for (int g = 1; g < GROUPS; ++g) sum[0] = S::add(sum[0], sums[g * LANES + lane]);
    }

    const auto code = Coded<S>::sum(found);
    const Position at = position(whole + blockIdx.x, tiles_m, tiles_n);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int row = at.m * TILE_M + (first + i * LANES) / TILE_N, col = at.n * TILE_N + (first + i * LANES) % TILE_N;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
            if (row < M && col * COLUMNS + c < N)
                write<R>(&C[batch * c_batch + row * c_row + (col * COLUMNS + c) * c_col], Coded<S>::number(sum[i], c, code), alpha, R::widen(beta),
                         {bias, bias_row, bias_col}, row, col * COLUMNS + c);
    }
}
