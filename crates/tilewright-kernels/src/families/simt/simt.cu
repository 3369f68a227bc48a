// simt: the production kernel for every semiring and type: any sizes, strides and transposes.
//
// Elements T are computed as sums are, in words Acc, and results are written as Out. Operands that are packed consist of words already; others are
// converted on their way to shared memory where the types differ. A word is a number, or holds several elements: COLUMNS columns of B and C, or
// TERMS terms. The semiring S computes with words and R with the numbers of type Scalar that they hold. N counts columns, K words.
//
// A block computes TILE_M x TILE_N elements of C, a warp WARP_M x WARP_N of them, a thread THREAD_M x THREAD_N.
// Tiles of A and B travel to shared memory by asynchronous copies, STAGES - 1 tiles ahead of the arithmetic, and lie
// there with neighbouring rows of A (columns of B) beside each other, whatever their order in memory. There is one
// barrier a tile. With PREFETCH, operands of the next step of k are read from shared memory while this step is
// computed, across tiles as well; without, other warps fill the time. A later tile's copies start at step COPY_STEP. Where C
// has few tiles, SLICES groups of warps share a tile of C: each takes its part of every tile's k, and the first adds up what
// they have.
// Tiles of C from number `whole` on are computed in parts, `k_split` terms each, that split_k_reduce adds up: all tiles
// where there are too few to fill the GPU, or those that its last wave of blocks would compute while most of it is idle.
// Edge tiles copy with guards; all other tiles run without any, and with EDGES = 0 the operands have no edge tiles at all.
// The PLAIN program has little text: all tiles copy with guards, and few loops are written out.
// A program that is right for some elements alone takes its TURN by what was found in them.
// A program that TRACKS tells of every result in which tile of k its sum became what it is, for arg.cu to look for the term there.
// A program that SETTLES computes PAIRS of terms once all sums of a warp have the sign of the better numbers: only numbers of that sign can
// still be selected, and these are ordered as their bits are. Until then it computes a term at a time.
#include "config.cuh"
#include "coded.cuh"
#include "order.cuh"
#include "ptx.cuh"
#include "turn.cuh"
#include "vector.cuh"

#if PLAIN
#define UNROLL _Pragma("unroll 1")
#else
#define UNROLL _Pragma("unroll")
#endif

constexpr int WIDTH = 16 / sizeof(Acc);  // elements per 16-byte access
constexpr int LANES_M = WARP_M / THREAD_M, LANES_N = WARP_N / THREAD_N;
constexpr int VECTORS_M = THREAD_M / WIDTH, VECTORS_N = THREAD_N / WIDTH;
constexpr int WARPS_M = TILE_M / WARP_M, WARPS_N = TILE_N / WARP_N;
constexpr int SLICE = WARPS_M * WARPS_N * 32, THREADS = SLICE * SLICES;
constexpr int STEPS = TILE_K / SLICES;  // steps of k that a slice of the block takes of every tile
// A tile whose steps are not all written out does not write out all copies either: they, too, take registers.
constexpr int COPIES_AT_ONCE = PLAIN ? 1 : UNROLLED * (1 + PAIRS) < STEPS ? 8 : 64;
static_assert(LANES_M * LANES_N == 32, "a warp has 32 lanes");
static_assert(COPY_STEP < STEPS, "a tile's copies start while it is computed");
static_assert(!PAIRS || (!PREFETCH && STEPS % 2 == 0 && COPY_STEP % 2 == 0), "steps go in pairs");
static_assert(!SETTLES || (PAIRS && COPY_STEP == 0), "sums settle to be computed in pairs");
static_assert(COLUMNS == 1 || (!EDGES && !STORE_VECTORS), "words of several columns are packed, and taken apart when they are written");

// How an operand's tile is copied: which way neighbouring threads go, how much one copy moves, and whether it converts.
enum Copy { ALONG_K, ALONG_SIDE, VECTORS_ALONG_SIDE, WIDEN_ALONG_K, WIDEN_ALONG_SIDE };

template <bool WIDENS> struct Source {
    using Element = Acc;
};
template <> struct Source<true> {
    using Element = T;
};

// One operand: its tile in shared memory is [TILE_K][SIDE], where the side is M for A and N for B.
template <int SIDE, int COPY> struct Operand {
    static constexpr bool WIDENS = COPY >= WIDEN_ALONG_K, IS_ALONG_K = COPY == ALONG_K || COPY == WIDEN_ALONG_K;
    using Element = typename Source<WIDENS>::Element;
    static constexpr int COUNT = COPY == VECTORS_ALONG_SIDE ? WIDTH : 1;  // elements per copy
    static constexpr int BYTES = COUNT * sizeof(Acc);
    // Threads along k write to rows of shared memory that are PITCH apart: padding spreads them over the banks.
    static constexpr int PITCH = SIDE + (IS_ALONG_K ? WIDTH : 0);
    static constexpr int ALONG = IS_ALONG_K ? TILE_K : SIDE / COUNT;  // copies until the other index changes
    static constexpr int ACROSS = THREADS / ALONG;                         // step of the other index between copies
    static constexpr int COPIES = SIDE * TILE_K / (COUNT * THREADS);       // copies per thread
    static_assert(THREADS % ALONG == 0 && COPIES * COUNT * THREADS == SIDE * TILE_K, "threads share a tile evenly");

    // This thread's first element within a tile.
    static __device__ int along() { return threadIdx.x % ALONG; }
    static __device__ int across() { return threadIdx.x / ALONG; }
    static __device__ int side() { return IS_ALONG_K ? across() : along() * COUNT; }
    static __device__ int k() { return IS_ALONG_K ? along() : across(); }

    const Element* next;    // the same element of the next tile to copy
    long long side_stride;  // elements from one row of A (column of B) to the next
    long long k_stride;     // elements from one k to the next

    __device__ Operand(const Element* tile, long long side_stride, long long k_stride)
        : next(tile + side() * side_stride + k() * k_stride), side_stride(side_stride), k_stride(k_stride)
    {
    }

    // Starts copying the next tile. With CHECKED, what lies beyond `side_left` or `k_left` becomes zero bytes, and is not used.
    template <bool CHECKED> __device__ void copy(unsigned to, int side_left, int k_left) const
    {
        const long long step = ACROSS * (IS_ALONG_K ? side_stride : k_stride);
        constexpr int SHARED_STEP = ACROSS * (IS_ALONG_K ? 1 : PITCH) * int(sizeof(Acc));
        to += (k() * PITCH + side()) * sizeof(Acc);
        // Sides are multiples of COUNT: a vector is inside or outside as a whole.
        auto is_inside = [&](int c) {
            const int s = side() + (IS_ALONG_K ? c * ACROSS : 0), kk = k() + (IS_ALONG_K ? 0 : c * ACROSS);
            return !CHECKED || (s < side_left && kk < k_left);
        };
        if constexpr (!WIDENS) {
#pragma unroll COPIES_AT_ONCE
            for (int c = 0; c < COPIES; ++c) copy_async<BYTES>(to + c * SHARED_STEP, next + c * step, is_inside(c));
        } else {
            constexpr int AT_ONCE = COPIES < COPIES_AT_ONCE ? COPIES : COPIES_AT_ONCE;  // under way together
            UNROLL
            for (int first = 0; first < COPIES; first += AT_ONCE) {
                Acc value[AT_ONCE];
#pragma unroll
                for (int c = 0; c < AT_ONCE; ++c)
                    value[c] = is_inside(first + c) ? S::widen(next[(first + c) * step]) : Acc(0);
#pragma unroll
                for (int c = 0; c < AT_ONCE; ++c) store_shared(to + (first + c) * SHARED_STEP, value[c]);
            }
        }
    }

    __device__ void advance() { next += TILE_K * k_stride; }
};

using TileA = Operand<TILE_M, COPY_A>;
using TileB = Operand<TILE_N, COPY_B>;
constexpr int STAGE_A = TILE_K * TileA::PITCH, STAGE = STAGE_A + TILE_K * TileB::PITCH;  // elements

// What a thread needs of an operand for one step of k.
template <int VECTORS, int LANES, int PITCH, int OFFSET> struct Fragment {
    Vector<Acc, WIDTH> vector[VECTORS];

    __device__ Acc at(int i) const { return vector[i / WIDTH][i % WIDTH]; }

    // Reads step k; `first` is where this thread's first element of step 0 lies.
    __device__ void read(const Acc* stage, int k, int first)
    {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            vector[v] = load_vector<WIDTH>(stage + first + (OFFSET + k * PITCH + v * LANES * WIDTH));
#pragma unroll
            for (int w = 0; w < WIDTH; ++w) vector[v][w] = S::operand(vector[v][w]);
        }
    }
};
using Rows = Fragment<VECTORS_M, LANES_M, TileA::PITCH, 0>;
using Columns = Fragment<VECTORS_N, LANES_N, TileB::PITCH, STAGE_A>;

// Row by row, every other row backwards: an instruction then shares an operand with the one before it, also where the
// row changes. An arithmetic unit keeps the last operands it read; two banks cannot deliver three new ones in a cycle.
__device__ inline void multiply_add(const Rows& rows, const Columns& columns, Acc (&sum)[THREAD_M][THREAD_N])
{
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int n = 0; n < THREAD_N; ++n) {
            const int j = i % 2 ? THREAD_N - 1 - n : n;
            sum[i][j] = S::multiply_add(rows.at(i), columns.at(j), sum[i][j]);
        }
}

// Two terms at once, for semirings that have an instruction which selects among three numbers.
template <class Words>
__device__ inline void multiply_add_pair(const Rows* rows, const Columns* columns, Acc (&sum)[THREAD_M][THREAD_N])
{
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int n = 0; n < THREAD_N; ++n) {
            const int j = i % 2 ? THREAD_N - 1 - n : n;
            const Acc a0 = rows[0].at(i), a1 = rows[1].at(i), b0 = columns[0].at(j), b1 = columns[1].at(j);
            if constexpr (SETTLES) sum[i][j] = Words::multiply_add_settled_pair(a0, b0, a1, b1, sum[i][j]);
            else sum[i][j] = Words::multiply_add_pair(a0, b0, a1, b1, sum[i][j], i * THREAD_N + j);
        }
}

// Whether all sums of the warp are better than one: all that can still be selected has their sign then.
template <class Words> __device__ inline bool have_settled(const Acc (&sum)[THREAD_M][THREAD_N])
{
    bool all = SETTLES;
    if constexpr (SETTLES) {
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) all &= Words::has_settled(sum[i][j]);
    }
    return __all_sync(~0u, all);
}

// Sums as they are computed once they have settled, and as they were.
template <class Words> __device__ inline void settle(Acc (&sum)[THREAD_M][THREAD_N])
{
    if constexpr (SETTLES) {
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) sum[i][j] = Words::settled(sum[i][j]);
    }
}

// An element as C has it: floats of 16 bits are compared as they are rounded.
template <class T> __device__ inline T as_stored(T x)
{
    if constexpr (SAME<T, float> && (SAME<Out, Half> || SAME<Out, Bfloat16>)) return R::widen(convert<Out>(x));
    else return x;
}

// For each sum the last tile of k that has changed it; -1 before the first one.
struct Track {
    Acc before[THREAD_M][THREAD_N];
    int tile[THREAD_M][THREAD_N];

    __device__ Track()
    {
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
                before[i][j] = S::zero();
                tile[i][j] = -1;
            }
    }

    __device__ void note(const Acc (&sum)[THREAD_M][THREAD_N], int now)
    {
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
                const Acc x = as_stored(sum[i][j]);
                if (x != before[i][j]) tile[i][j] = now;
                before[i][j] = x;
            }
    }
    __device__ int at(int i, int j) const { return tile[i][j]; }
};
struct NoTrack {
    __device__ void note(const Acc (&)[THREAD_M][THREAD_N], int) {}
    __device__ int at(int, int) const { return -1; }
};
template <bool> struct Tracking {
    using Type = NoTrack;
};
template <> struct Tracking<true> {
    using Type = Track;
};

// Results of a warp on their way to C, WIDTH of each thread's rows. One more vector a row keeps the banks apart.
constexpr int RESULT_PITCH = WARP_N + WIDTH, RESULTS = LANES_M * WIDTH * RESULT_PITCH;
static_assert(!TRACKS || (SLICES == 1 && !PAIRS && SAME<S, R>), "a number is tracked, and one thread has all of its terms");
static_assert((SLICES - 1) * TILE_M * TILE_N + WARPS_M * WARPS_N * RESULTS <= STAGES * STAGE, "results fit into the stages");

// Row of the warp's tile, from the thread's first one, that a thread's row i is.
__device__ constexpr int row_of(int i) { return i / WIDTH * LANES_M * WIDTH + i % WIDTH; }

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
simt(const TileA::Element* A, const TileB::Element* B, Out* C, Acc* parts, int M, int N, int K, long long a_row, long long a_col,
     long long b_row, long long b_col, long long c_row, long long c_col, long long a_batch, long long b_batch, long long c_batch,
     int whole, int k_split, int first_batch, Scalar alpha, Scalar beta, int* where, const int* found, int finders, int earlier, int own)
{
    extern __shared__ __align__(16) Acc shared[];
    const int columns_of_words = (N + COLUMNS - 1) / COLUMNS;

    // Blocks of whole tiles come first; then the first parts of all other tiles, then the second parts, and so on.
    const int tiles_m = (M + TILE_M - 1) / TILE_M, tiles_n = (columns_of_words + TILE_N - 1) / TILE_N;
    const int unit = int(blockIdx.x) - whole, split_tiles = tiles_m * tiles_n - whole;
    const int part = unit < 0 ? 0 : unit / split_tiles;
    const Position at = position(blockIdx.x - part * split_tiles, tiles_m, tiles_n);
    const int m0 = at.m * TILE_M, n0 = at.n * TILE_N;

    const long long batch = first_batch + blockIdx.y;
    const int k0 = part * k_split, k_count = unit < 0 ? K : min(k_split, K - k0);
    TileA tile_a(A + batch * a_batch + m0 * a_row + k0 * a_col, a_row, a_col);
    TileB tile_b(B + batch * b_batch + n0 * b_col + k0 * b_row, b_col, b_row);

    // Neighbouring lanes are neighbours along M, pairs of them along N: 16 lanes that are served together then read at most
    // 8 vectors of B and 2 of A, all in different banks.
    const int slice = SLICES == 1 ? 0 : threadIdx.x / SLICE;
    const int warp = SLICES == 1 ? threadIdx.x / 32 : threadIdx.x % SLICE / 32, lane = threadIdx.x % 32;
    const int lane_m = lane % 2 + lane / (2 * LANES_N) * 2, lane_n = lane / 2 % LANES_N;
    const int row = warp / WARPS_N * WARP_M + lane_m * WIDTH, col = warp % WARPS_N * WARP_N + lane_n * WIDTH;

    Acc sum[THREAD_M][THREAD_N];
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) sum[i][j] = S::zero();

    const bool inside = m0 + TILE_M <= M && n0 + TILE_N <= columns_of_words;
    constexpr bool staged = !STORE_VECTORS;  // results leave through shared memory
    const int full_tiles = k_count / TILE_K;
    const unsigned base = shared_address(shared);
    auto copy_tile = [&](int tile, int stage) {
        const unsigned to_a = base + stage * STAGE * sizeof(Acc), to_b = to_a + STAGE_A * sizeof(Acc);
        const int k_left = k_count - tile * TILE_K;
        if (!EDGES || (!PLAIN && inside && k_left >= TILE_K)) {
            if (k_left > 0) {
                tile_b.template copy<false>(to_b, TILE_N, TILE_K);
                tile_a.template copy<false>(to_a, TILE_M, TILE_K);
            }
        } else if (k_left > 0) {
            tile_b.template copy<true>(to_b, columns_of_words - n0, k_left);
            tile_a.template copy<true>(to_a, M - m0, k_left);
        }
        tile_b.advance();
        tile_a.advance();
        commit_copies();  // a group without copies keeps the count of groups simple
    };

    auto next_tile = [&] {  // has arrived, and every warp is done with the one before
        wait_for_copies<STAGES - 2>();
        __syncthreads();
    };

    wait_for_previous_kernel();
    if constexpr (TURN) {
        if (!is_turn_of_block(found, finders, earlier, own)) return;
    }
    for (int s = 0; s < STAGES - 1; ++s) copy_tile(s, s);
    next_tile();

    int stage = 0, free = STAGES - 1;  // the stage to compute from, and the one to copy to
    // A warp whose part of an edge tile lies outside C leaves the arithmetic to the others: it copies and takes part in barriers.
    if (warp / WARPS_N * WARP_M >= M - m0 || warp % WARPS_N * WARP_N >= columns_of_words - n0) {
        for (int tile = 0; tile < full_tiles; ++tile) {
            copy_tile(tile + STAGES - 1, free);
            free = free + 1 == STAGES ? 0 : free + 1;
            next_tile();
        }
        if (SLICES > 1 || staged) __syncthreads();
        if (SLICES > 1) __syncthreads();
        return;
    }

    const int first_row = SLICES == 1 ? row : row + slice * STEPS * TileA::PITCH;
    const int first_col = SLICES == 1 ? col : col + slice * STEPS * TileB::PITCH;
    typename Tracking<TRACKS>::Type track;
    Rows rows[1 + (PREFETCH || PAIRS)];
    Columns columns[1 + (PREFETCH || PAIRS)];
    if (PREFETCH && full_tiles > 0) {
        rows[0].read(shared, 0, first_row);
        columns[0].read(shared, 0, first_col);
    }
    bool settled = false;
    for (int tile = 0; tile < full_tiles; ++tile) {
        const Acc* here = shared + stage * STAGE;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        // Written out twice: of a function or of reads behind the copies, the compiler makes a slower loop.
        if (COPY_STEP == 0) {
            copy_tile(tile + STAGES - 1, free);
            free = free + 1 == STAGES ? 0 : free + 1;
        }
        if (SETTLES && !settled) {
#pragma unroll UNROLLED
            for (int k = 0; k < STEPS; ++k) {
                rows[0].read(here, k, first_row);
                columns[0].read(here, k, first_col);
                multiply_add(rows[0], columns[0], sum);
            }
            // After as many terms as have been looked at before: where sums do not settle, looking costs nothing.
            settled = (tile & (tile + 1)) == 0 && have_settled<S>(sum);
            if (settled) settle<S>(sum);
            next_tile();
            continue;
        }
#pragma unroll UNROLLED
        for (int k = 0; k < STEPS; k += 1 + PAIRS) {
            const Acc* next = here;  // where step k + 1 is
            const int next_k = (k + 1) % STEPS;
            if (PREFETCH) {
                if (next_k == 0) {
                    next_tile();
                    // After the last full tile the operands of its first step are read again, and not used.
                    if (tile + 1 < full_tiles) next = shared + stage * STAGE;
                }
                rows[(k + 1) % 2].read(next, next_k, first_row);
                columns[(k + 1) % 2].read(next, next_k, first_col);
            } else {
                rows[0].read(here, k, first_row);
                columns[0].read(here, k, first_col);
                if (PAIRS) {
                    rows[PAIRS].read(here, k + 1, first_row);
                    columns[PAIRS].read(here, k + 1, first_col);
                }
            }
            if (COPY_STEP > 0 && k == COPY_STEP) {
                copy_tile(tile + STAGES - 1, free);
                free = free + 1 == STAGES ? 0 : free + 1;
            }
            if constexpr (PAIRS) {
                multiply_add_pair<S>(rows, columns, sum);
            } else {
                multiply_add(rows[PREFETCH ? k % 2 : 0], columns[PREFETCH ? k % 2 : 0], sum);
            }
        }
        track.note(sum, tile);
        if (!PREFETCH) next_tile();
    }
    if (settled) settle<S>(sum);
    for (int k = 0; EDGES && k < min(k_count - full_tiles * TILE_K - slice * STEPS, STEPS); ++k) {
        rows[0].read(shared + stage * STAGE, k, first_row);
        columns[0].read(shared + stage * STAGE, k, first_col);
        multiply_add(rows[0], columns[0], sum);
    }
    track.note(sum, full_tiles);

    if constexpr (SLICES > 1) {  // the first slice adds what the others have, in their order
        Acc* others = shared + threadIdx.x % SLICE * WIDTH;
        __syncthreads();
#pragma unroll
        for (int v = 0; v < THREAD_M * VECTORS_N; ++v) {
            Vector<Acc, WIDTH> mine;
#pragma unroll
            for (int w = 0; w < WIDTH; ++w) mine[w] = sum[v / VECTORS_N][v % VECTORS_N * WIDTH + w];
            if (slice > 0) store_vector(others + ((slice - 1) * THREAD_M * VECTORS_N + v) * SLICE * WIDTH, mine);
        }
        __syncthreads();
        if (slice > 0) return;
        for (int s = 0; s < SLICES - 1; ++s)
#pragma unroll
            for (int v = 0; v < THREAD_M * VECTORS_N; ++v) {
                const auto other = load_vector<WIDTH>(others + (s * THREAD_M * VECTORS_N + v) * SLICE * WIDTH);
#pragma unroll
                for (int w = 0; w < WIDTH; ++w) {
                    Acc& to = sum[v / VECTORS_N][v % VECTORS_N * WIDTH + w];
                    to = S::add(to, other[w]);
                }
            }
    } else if (staged) {
        __syncthreads();  // every warp is done with the operands
    }

    let_next_kernel_start();
    // Every sum is multiplied, even by one: stored as they are, sums would have to lie in the registers in fours, and the
    // loop above pays for that. Words of several elements are multiplied when they are taken apart.
    const Scalar scale = unit < 0 ? alpha : R::one(), keep = unit < 0 ? R::widen(beta) : R::zero();
    auto product = [&](int v) {
        Vector<Acc, WIDTH> vector;
#pragma unroll
        for (int w = 0; w < WIDTH; ++w) {
            const Acc word = sum[v / VECTORS_N][v % VECTORS_N * WIDTH + w];
            if constexpr (SAME<S, R>) vector[w] = S::multiply(scale, word);
            else vector[w] = word;
        }
        return vector;
    };
    const auto code = Coded<S>::sum(found);
    auto number = [&](Acc word, int column) -> Scalar {
        if constexpr (SAME<S, R>) return word;
        else return R::multiply(scale, Coded<S>::number(word, column, code));
    };
    if constexpr (TRACKS) {  // an element at a time: results are few beside terms
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
                const int r = m0 + row + row_of(i), c = n0 + col + j / WIDTH * LANES_N * WIDTH + j % WIDTH;
                if (r >= M || c >= N) continue;
                Out* to = C + batch * c_batch + r * c_row + c * c_col;
                const Acc old = R::widen(keep == R::zero() ? R::template narrow<Out>(R::zero()) : *to);
                accumulate<R>(to, number(sum[i][j], 0), keep);
                where[(batch * M + r) * N + c] = R::widen(*to) != old ? track.at(i, j) : -1;
            }
        return;
    }
    Acc* to_part = parts + (blockIdx.y * (gridDim.x - whole) + (long long)unit) * (TILE_M * TILE_N);
    Out* to = C + batch * c_batch + m0 * c_row + n0 * COLUMNS * c_col;
    constexpr bool parts_are_results = SAME<S, R> && SAME<Out, Acc>;
    if constexpr (parts_are_results) to = unit < 0 ? to : reinterpret_cast<Out*>(to_part);
    const bool is_c = !parts_are_results || unit < 0;
    const long long to_row = is_c ? c_row : TILE_N, to_col = is_c ? c_col : 1;
    if constexpr (!staged) {
        to += row * to_row + col;
#pragma unroll
        for (int v = 0; v < THREAD_M * VECTORS_N; ++v) {
            const int r = row_of(v / VECTORS_N), s = v % VECTORS_N * LANES_N * WIDTH;
            if (m0 + row + r >= M || n0 + col + s >= N) continue;
            Out* here = to + r * to_row + s;
            const Vector<Acc, WIDTH> result = product(v);
            Vector<Out, WIDTH> value = {};
            if (keep != R::zero()) value = load_vector<WIDTH>(here);
#pragma unroll
            for (int w = 0; w < WIDTH; ++w) accumulate<R>(&value[w], number(result[w], 0), keep);
            store_vector(here, value);
        }
        return;
    }
    // Through shared memory, so that neighbouring lanes write neighbouring columns: WIDTH of each thread's rows at a time.
    Acc* results = shared + (SLICES - 1) * TILE_M * TILE_N + warp * RESULTS;
    const int warp_row = warp / WARPS_N * WARP_M, warp_col = warp % WARPS_N * WARP_N;
#pragma unroll
    for (int i = 0; i < THREAD_M; i += WIDTH) {
        if (i > 0) __syncwarp();
#pragma unroll
        for (int v = i * VECTORS_N; v < (i + WIDTH) * VECTORS_N; ++v)
            store_vector(results + (lane_m * WIDTH + v / VECTORS_N - i) * RESULT_PITCH + lane_n * WIDTH +
                             v % VECTORS_N * LANES_N * WIDTH,
                         product(v));
        __syncwarp();
        const int first = warp_row + i * LANES_M;
        for (int r = 0; r < LANES_M * WIDTH && m0 + first + r < M; ++r) {
            const Acc* words = results + r * RESULT_PITCH;
            if (!parts_are_results && unit >= 0) {
                UNROLL
                for (int s = lane; s < WARP_N; s += 32) to_part[(first + r) * TILE_N + warp_col + s] = words[s];
            } else {
                UNROLL
                for (int s = lane; s < WARP_N * COLUMNS; s += 32)
                    if ((n0 + warp_col) * COLUMNS + s < N)
                        accumulate<R>(&to[(first + r) * to_row + (warp_col * COLUMNS + s) * to_col],
                                      number(words[s / COLUMNS], s % COLUMNS), keep);
            }
        }
    }
}
