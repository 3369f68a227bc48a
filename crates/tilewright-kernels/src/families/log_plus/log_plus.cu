// log-plus: C[i,j] = log sum_k exp(A[i,k] + B[k,j]), from scaled sums, or from its terms.
//
// With SCALED there are sums of exp(A[i,k] - r[i]) exp(B[k,j] - c[j]), and a result is r[i] + c[j] + log of its sum. A sum is trusted
// where it is so large that nothing of weight can be missing from it, or where the elements lie so close together that no factor has
// vanished. All other results, and without SCALED all there are, are computed from their terms, CHUNK at a time: the largest one is
// kept, and the sum of exp(term - largest). Terms that together have no weight beside the largest one are passed over.
//
// A block finishes HEIGHT rows of 32 columns, a warp every WARPS-th row, a lane a column. Rows whose sums are trusted cost nothing more.
#include "config.cuh"
#include "ptx.cuh"
#include "vector.cuh"

constexpr int HEIGHT = 64, LANES = 32, WARPS = 8, THREADS = LANES * WARPS, ROWS = HEIGHT / WARPS, CHUNK = 16;
constexpr int WIDTH = 16 / sizeof(T);

// A part of an operand on its way to shared memory: LINES lines, CHUNK terms. Neighbouring threads read along its shorter stride.
template <int LINES> struct Reader {
    static constexpr int COUNT = LINES * CHUNK / THREADS;
    const T* source;
    long long line_stride, k_stride;
    int lines, terms;
    bool along_k;
    T value[COUNT];

    __device__ Reader(const T* source, long long line_stride, long long k_stride, int lines, int terms)
        : source(source), line_stride(line_stride), k_stride(k_stride), lines(lines), terms(terms),
          along_k(abs(k_stride) < abs(line_stride))
    {
    }
    __device__ int line(int i) const { return along_k ? threadIdx.x / CHUNK + i * (THREADS / CHUNK) : threadIdx.x % LINES; }
    __device__ int term(int i) const { return along_k ? threadIdx.x % CHUNK : threadIdx.x / LINES + i * (THREADS / LINES); }
    __device__ void read(int first)
    {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int l = line(i), k = first + term(i);
            value[i] = l < lines && k < terms ? source[l * line_stride + k * k_stride] : S::zero();
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, sizeof(T) == 4 ? 2 : 1)
log_plus(const T* A, const T* B, T* C, const T* sums, const T* scales_a, const T* scales_b, int M, int N, int K, int first_row,
         int first_col, int rows, int cols, long long a_row, long long a_col, long long b_row, long long b_col, long long c_row,
         long long c_col, long long a_batch, long long b_batch, long long c_batch, long long sums_row, long long sums_batch,
         long long scales_a_batch, long long scales_b_batch, int first_batch, int batches, T least, T cut_off, int joins)
{
    // Of A with a vector more a row, of B with an element more, so that no way to write them meets few banks.
    __shared__ __align__(16) T a_part[HEIGHT][CHUNK + WIDTH];
    __shared__ T b_part[CHUNK][LANES + 1];
    __shared__ Two<T> state[HEIGHT][LANES];  // the largest term, and the sum of exp(term - largest)
    wait_for_previous_kernel();
    let_next_kernel_start();
    const int tiles = (cols + LANES - 1) / LANES, lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    // Of this tile, in the rectangle of C that is computed.
    const int row0 = blockIdx.x / tiles * HEIGHT, col0 = blockIdx.x % tiles * LANES, col = col0 + lane;
    auto row_of = [&](int i) { return row0 + warp + i * WARPS; };

    for (int batch = blockIdx.z; batch < batches; batch += gridDim.z) {
        T* to = C + (first_batch + batch) * c_batch + first_row * c_row + (first_col + col) * c_col;
        auto finish = [&](int i, T result) {
            T* here = to + row_of(i) * c_row;
            *here = (joins ? S::add(*here, result) : result) + T(0);  // zeros are positive
        };

        // Rows whose element in this column is to be computed from its terms, a bit each; and where one of them may be NaN.
        unsigned again = 0, odd = 0;
        if (col < cols) {
            if constexpr (SCALED) {
                const T* of_rows = scales_a + batch * scales_a_batch + first_row;
                const T* of_col = scales_b + batch * scales_b_batch + first_col + col;
                const T* from = sums + batch * sums_batch + col;
                const T col_best = of_col[0], col_span = of_col[N];
                T sum[ROWS];
#pragma unroll
                for (int i = 0; i < ROWS; ++i) sum[i] = row_of(i) < rows ? from[row_of(i) * sums_row] : T(0);
#pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    if (row_of(i) >= rows) break;
                    const T row_best = of_rows[row_of(i)];
                    // Nothing is lost where all factors are normal; no sum is then small, unless it is of absent terms alone.
                    const bool is_whole = of_rows[M + row_of(i)] + col_span <= S::F::span();
                    T result = S::scaled_log(row_best, col_best, sum[i]);
                    bool is_sure = fabs(result) < top<T>() && (is_whole || sum[i] >= least);
                    if ((is_whole && sum[i] == T(0)) || (min(row_best, col_best) == S::zero() && max(row_best, col_best) < top<T>())) {
                        result = S::zero();
                        is_sure = true;
                    }
                    if (row_best != row_best || col_best != col_best) {
                        result = row_best + col_best;
                        is_sure = true;
                    }
                    if (is_sure) {
                        finish(i, result);
                    } else {
                        again |= 1u << i;
                        // An infinite factor makes the sum infinite, unless it meets an absent one.
                        if (max(row_best, col_best) == top<T>()) odd |= 1u << i;
                    }
                }
            } else {
                for (int i = 0; i < ROWS; ++i) again |= row_of(i) < rows ? 1u << i : 0;
                odd = again;
            }
        }
        if (!__syncthreads_or(again)) continue;

        // The same for all lanes.
        unsigned rows_again = 0, rows_odd = 0;
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            if (__any_sync(0xffffffff, again >> i & 1)) rows_again |= 1u << i;
            if (__any_sync(0xffffffff, odd >> i & 1)) rows_odd |= 1u << i;
            state[warp + i * WARPS][lane] = {S::zero(), T(0)};
        }
        unsigned is_nan = 0;
        Reader<HEIGHT> of_a(A + (first_batch + batch) * a_batch + (first_row + row0) * a_row, a_row, a_col, rows - row0, K);
        Reader<LANES> of_b(B + (first_batch + batch) * b_batch + (first_col + col0) * b_col, b_col, b_row, cols - col0, K);
        of_a.read(0);
        of_b.read(0);
        for (int k0 = 0; k0 < K; k0 += CHUNK) {
#pragma unroll
            for (int i = 0; i < of_a.COUNT; ++i) a_part[of_a.line(i)][of_a.term(i)] = of_a.value[i];
#pragma unroll
            for (int i = 0; i < of_b.COUNT; ++i) b_part[of_b.term(i)][of_b.line(i)] = of_b.value[i];
            __syncthreads();
            of_a.read(k0 + CHUNK);
            of_b.read(k0 + CHUNK);
            T b[CHUNK];
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) b[k] = b_part[k][lane];
            for (unsigned left = rows_again; left; left &= left - 1) {
                const int i = __ffs(left) - 1;
                const T* a = a_part[warp + i * WARPS];
                Two<T>& here = state[warp + i * WARPS][lane];
                T largest = S::zero();
#pragma unroll
                for (int k = 0; k < CHUNK; k += WIDTH) {
                    const auto some = load_vector<WIDTH>(a + k);
#pragma unroll
                    for (int w = 0; w < WIDTH; ++w) largest = larger(some[w] + b[k + w], largest);
                }
                if (rows_odd >> i & 1) {
#pragma unroll 1
                    for (int k = 0; k < CHUNK; ++k) {
                        const T term = a[k] + b_part[k][lane];
                        if (term != term) is_nan |= 1u << i;
                    }
                }
                const T best = here.high, now = larger(largest, best), least_term = now + cut_off;
                // The least term is no smaller than it was: the largest one weighs, or none does.
                if (!__any_sync(0xffffffff, largest >= least_term && largest > S::zero())) continue;
                const T shift = fabs(now) < top<T>() ? now : T(0);
                T part = 0;
#pragma unroll 1
                for (int k = 0; k < CHUNK; ++k) {
                    const T term = a[k] + b_part[k][lane];
                    if (term >= least_term) part += S::exponential(term - shift, T(0));
                }
                here = {now, here.low * S::exponential(best - shift, T(0)) + part};
            }
            __syncthreads();
        }
        for (unsigned left = again; left; left &= left - 1) {
            const int i = __ffs(left) - 1;
            const Two<T> terms = state[warp + i * WARPS][lane];
            // Without a term that is not absent there is no sum; and an infinite one has no logarithm to add.
            const T result = fabs(terms.high) < top<T>() ? S::scaled_log(terms.high, T(0), terms.low) : terms.high;
            finish(i, is_nan >> i & 1 ? top<T>() - top<T>() : result);
        }
    }
}
