// thin: products whose C has few columns, in one pass over A.
//
// A block computes ROWS rows of C, a thread ROWS_OF_THREAD of them, all COLUMNS_AT_ONCE sums of each in registers. CHUNK terms at a time, the block
// copies its rows of A and the rows of B to shared memory, where a thread finds its own rows of A and all threads read the same elements of B.
// Of the reads of a chunk, AT_ONCE of each thread are under way together; while a block waits for its own, others of the multiprocessor compute.
#include "config.cuh"
#include "ptx.cuh"
#include "vector.cuh"

constexpr int THREADS = 128, ROWS = THREADS * ROWS_OF_THREAD, WIDTH = 16 / sizeof(Acc);
// Rows begin in different banks, whichever way they are read.
constexpr int PITCH = CHUNK + 1, RESULT_PITCH = COLUMNS_AT_ONCE + 1;
constexpr int COPIES = CHUNK * ROWS_OF_THREAD, COPIES_B = (CHUNK * COLUMNS_AT_ONCE + THREADS - 1) / THREADS;  // per thread and chunk
static_assert(THREADS % CHUNK == 0 && COPIES % AT_ONCE == 0 && COLUMNS_AT_ONCE % WIDTH == 0, "threads share a chunk evenly");

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
thin(const T* A, const T* B, Out* C, int M, int N, int K, long long a_row, long long a_col, long long b_row, long long b_col,
     long long c_row, long long c_col, long long a_batch, long long b_batch, long long c_batch, int first_batch, Scalar alpha, Scalar beta)
{
    // Of A; in the end the results of one row of each thread.
    __shared__ Acc rows[ROWS * PITCH > THREADS * RESULT_PITCH ? ROWS * PITCH : THREADS * RESULT_PITCH];
    __shared__ __align__(16) Acc columns[CHUNK * COLUMNS_AT_ONCE];
    const long long batch = first_batch + blockIdx.y;
    const int m0 = blockIdx.x * ROWS, rows_left = M - m0, me = threadIdx.x;
    A += batch * a_batch + m0 * a_row;
    B += batch * b_batch;
    C += batch * c_batch + m0 * c_row;

    // Neighbouring threads copy neighbouring elements: terms of a row, or rows of a term. This thread's copies of a chunk follow one another in
    // the other direction, as far as there are any.
    const int row = ROWS_ALONG_K ? me / CHUNK : me % ROWS, term = ROWS_ALONG_K ? me % CHUNK : 0;
    constexpr int ROW_STEP = ROWS_ALONG_K ? THREADS / CHUNK : THREADS;
    auto row_of = [&](int c) { return ROWS_ALONG_K ? row + c * ROW_STEP : row + c % ROWS_OF_THREAD * ROW_STEP; };
    auto term_of = [&](int c) { return ROWS_ALONG_K ? term : c / ROWS_OF_THREAD; };

    Acc sum[ROWS_OF_THREAD][COLUMNS_AT_ONCE];
#pragma unroll
    for (int i = 0; i < ROWS_OF_THREAD; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS_AT_ONCE; ++j) sum[i][j] = R::zero();

    wait_for_previous_kernel();
    for (int k0 = 0; k0 < K; k0 += CHUNK) {
        const int terms = min(CHUNK, K - k0);
        if (k0 > 0) __syncthreads();  // every thread is done with the chunk before
        Acc of_b[COPIES_B];
#pragma unroll
        for (int c = 0; c < COPIES_B; ++c) {
            const int e = me + c * THREADS, k = e / COLUMNS_AT_ONCE, j = e % COLUMNS_AT_ONCE;
            of_b[c] = k < terms && j < N ? R::operand(R::widen(B[(k0 + k) * b_row + j * b_col])) : R::zero();
        }
        const T* from = A + k0 * a_col;
#pragma unroll 1
        for (int first = 0; first < COPIES; first += AT_ONCE) {
            auto is_inside = [&](int c) { return row_of(first + c) < rows_left && term_of(first + c) < terms; };
            T element[AT_ONCE];
#pragma unroll
            for (int c = 0; c < AT_ONCE; ++c)
                if (is_inside(c)) element[c] = from[row_of(first + c) * a_row + term_of(first + c) * a_col];
#pragma unroll
            for (int c = 0; c < AT_ONCE; ++c)
                rows[row_of(first + c) * PITCH + term_of(first + c)] = is_inside(c) ? R::operand(R::widen(element[c])) : R::zero();
        }
#pragma unroll
        for (int c = 0; c < COPIES_B; ++c)
            if (me + c * THREADS < CHUNK * COLUMNS_AT_ONCE) columns[me + c * THREADS] = of_b[c];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < terms; ++k) {
            Acc a[ROWS_OF_THREAD];
#pragma unroll
            for (int i = 0; i < ROWS_OF_THREAD; ++i) a[i] = rows[(me + i * THREADS) * PITCH + k];
#pragma unroll
            for (int j = 0; j < COLUMNS_AT_ONCE; j += WIDTH) {
                const auto b = load_vector<WIDTH>(columns + k * COLUMNS_AT_ONCE + j);
#pragma unroll
                for (int i = 0; i < ROWS_OF_THREAD; ++i)
#pragma unroll
                    for (int w = 0; w < WIDTH; ++w) sum[i][j + w] = R::multiply_add(a[i], b[w], sum[i][j + w]);
            }
        }
    }
    let_next_kernel_start();

#pragma unroll
    for (int i = 0; i < ROWS_OF_THREAD; ++i) {
        const int left = rows_left - i * THREADS;
        Out* to = C + i * THREADS * c_row;
        if constexpr (RESULTS_ALONG_N) {
            __syncthreads();  // every thread is done with what was there
#pragma unroll
            for (int j = 0; j < COLUMNS_AT_ONCE; ++j) rows[me * RESULT_PITCH + j] = sum[i][j];
            __syncthreads();
#pragma unroll
            for (int c = 0; c < COLUMNS_AT_ONCE; ++c) {
                const int e = c * THREADS + me, r = e / COLUMNS_AT_ONCE, j = e % COLUMNS_AT_ONCE;
                if (r < left && j < N) update<R>(&to[r * c_row + j * c_col], rows[r * RESULT_PITCH + j], alpha, R::widen(beta));
            }
        } else {
#pragma unroll
            for (int j = 0; j < COLUMNS_AT_ONCE; ++j)
                if (me < left && j < N) update<R>(&to[me * c_row + j * c_col], sum[i][j], alpha, R::widen(beta));
        }
    }
}
