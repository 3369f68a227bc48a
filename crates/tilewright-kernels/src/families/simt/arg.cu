// arg: the smallest k whose term is the result, C[i,j] = times(A[i,k], B[k,j]), or -1 where `where` says that no term is.
//
// The product has left in `where` the tile of CHUNK terms in which each sum became what it is. Here the lanes of a warp, or of a part of
// it, look at the terms of that tile together, and the first that has the result is the one. Neighbouring terms should lie beside each
// other: the lanes then read whole lines. A block stays in one row of C, whose tiles of A it finds in the first-level cache; all
// rows of a PANEL of columns come before the next, so that the panel's part of B stays in the second-level cache.
#include "config.cuh"
#include "ptx.cuh"

constexpr int THREADS = 256, PANEL = 1024, LANES = CHUNK, AT_ONCE = 32 / LANES;  // elements that a warp looks for together
constexpr int READS = AT_ONCE < 4 ? 8 : 4;  // of each operand, under way together
static_assert(CHUNK <= 32 && 32 % CHUNK == 0, "a lane takes a term");
constexpr unsigned ALL = ~0u, TERMS_OF_ONE = ALL >> (32 - LANES);

template <bool PACKED> struct Source {
    using Element = T;
};
template <> struct Source<true> {
    using Element = Acc;
};
using ElementA = Source<PACKED_A>::Element;
using ElementB = Source<PACKED_B>::Element;

extern "C" __global__ void __launch_bounds__(THREADS)
arg(const ElementA* A, const ElementB* B, const Out* C, int* where, int M, int N, int K, long long a_row, long long a_col, long long b_row,
    long long b_col, long long c_row, long long c_col, long long a_batch, long long b_batch, long long c_batch, int first_batch)
{
    wait_for_previous_kernel();
    let_next_kernel_start();
    if (K == 0) return;
    const long long batch = first_batch + blockIdx.y;
    const int row = blockIdx.x % M, panel = blockIdx.x / M * PANEL;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    A += batch * a_batch + row * a_row;
    B += batch * b_batch;
    C += batch * c_batch + row * c_row;
    where += (batch * M + row) * N;
    for (int first = panel + warp * 32; first < min(N, panel + PANEL); first += THREADS) {
        const bool is_mine = first + lane < N;
        const int tile = is_mine ? where[first + lane] : -1;
        const Acc result = is_mine ? R::widen(C[(first + lane) * c_col]) : R::zero();
        int k = -1;
        for (int e = 0; e < 32; e += AT_ONCE * READS) {
            // Read whatever the tile is, and all before the first is looked at, so that the reads are under way together.
            Acc a[READS], b[READS];
#pragma unroll
            for (int r = 0; r < READS; ++r) {
                const int which = e + r * AT_ONCE + lane / LANES, at = __shfl_sync(ALL, tile, which) * CHUNK + lane % LANES;
                const int from = min(max(at, 0), K - 1), column = min(first + which, N - 1);
                a[r] = R::operand(R::widen(A[from * a_col]));
                b[r] = R::operand(R::widen(B[from * b_row + column * b_col]));
            }
#pragma unroll
            for (int r = 0; r < READS; ++r) {
                const int which = e + r * AT_ONCE + lane / LANES, at = __shfl_sync(ALL, tile, which) * CHUNK + lane % LANES;
                const Acc wanted = __shfl_sync(ALL, result, which), term = R::multiply(a[r], b[r]);
                const bool is_it = at >= 0 && at < K && R::widen(R::template narrow<Out>(term)) == wanted;
                const unsigned found = __ballot_sync(ALL, is_it) >> lane % AT_ONCE * LANES & TERMS_OF_ONE;
                if (lane / AT_ONCE == which / AT_ONCE && found) k = tile * CHUNK + __ffs(found) - 1;
            }
        }
        if (is_mine) where[first + lane] = k;
    }
}
