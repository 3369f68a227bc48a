// trees: the stop before the last of the best paths between all vertices, from the weights of edges W and of best paths D.
//
// Where a worse part makes a path worse, the edges of every best path are best paths themselves. There are few of those, so that they
// are listed first, by the vertex that they lead to: `count` and `list` take ROWS rows of a strip of columns each, and the host
// adds up the counts in between. Then `grow` takes the best of each list: a block for each source, whose row of D stays in the cache.
//
// What it finds is right where one last edge is strictly better than all others, and the way there strictly better than the whole; for
// other sources it says so, and they are left to somebody who counts edges. A path of one edge comes before all others.
#include "config.cuh"

constexpr int THREADS = 256;

// An edge that is a best path: where it begins, and its weight.
struct Edge {
    int from;
    T weight;
};

// NaN is no edge, and negative zero positive.
__device__ inline T clean(T x) { return S::template narrow<T>(S::add(S::zero(), x)); }
__device__ inline bool improves(T x, T y) { return S::add(y, x) != y; }

// The edges of W that are best paths, of this thread's column and rows.
template <class F> __device__ void for_tight_edges(const T* W, const T* D, int N, int rows, F f)
{
    const int column = blockIdx.x * THREADS + threadIdx.x, first = blockIdx.y * rows;
    if (column >= N) return;
#pragma unroll 8
    for (int row = first; row < min(first + rows, N); ++row) {
        const T weight = clean(W[(long long)row * N + column]);
        if (weight == D[(long long)row * N + column] && row != column && weight != S::zero()) f(row, weight);
    }
}

// How many there are: counts[strip of rows][column].
extern "C" __global__ void __launch_bounds__(THREADS) count(const T* W, const T* D, int N, int rows, int* counts)
{
    int found = 0;
    for_tight_edges(W, D, N, rows, [&](int, T) { ++found; });
    const int column = blockIdx.x * THREADS + threadIdx.x;
    if (column < N) counts[blockIdx.y * N + column] = found;
}

// The edges themselves, those of a column in the order of rows; starts[strip of rows][column] is where the first one goes.
extern "C" __global__ void __launch_bounds__(THREADS) list(const T* W, const T* D, int N, int rows, const int* starts, Edge* edges)
{
    const int column = blockIdx.x * THREADS + threadIdx.x;
    int next = column < N ? starts[blockIdx.y * N + column] : 0;
    for_tight_edges(W, D, N, rows, [&](int row, T weight) { edges[next++] = {row, weight}; });
}

// Row `source` of P, whose last row says which sources are unsure. The edges to a vertex end where those to the next begin.
extern "C" __global__ void __launch_bounds__(THREADS)
grow(const T* W, const T* D, int N, int edge_count, const int* starts, const Edge* edges, int* P)
{
    const int source = blockIdx.x;
    W += (long long)source * N;
    D += (long long)source * N;
    bool is_unsure = false;
    for (int to = threadIdx.x; to < N; to += THREADS) {
        int from = -1;
        const T whole = D[to];
        if (to != source && whole != S::zero()) {
            if (clean(W[to]) == whole) {
                from = source;
            } else {
                T least = S::zero();
                bool is_tie = false;
                const int end = to + 1 < N ? starts[to + 1] : edge_count;
                for (int e = starts[to]; e < end; ++e) {
                    const Edge edge = edges[e];
                    const T weight = S::multiply(D[edge.from], edge.weight);
                    const bool is_better = improves(weight, least);
                    is_tie = !is_better && (is_tie || weight == least);
                    least = is_better ? weight : least;
                    from = is_better ? edge.from : from;
                }
                is_unsure |= is_tie || from < 0 || !improves(D[max(from, 0)], whole);
            }
        }
        P[(long long)source * N + to] = from;
    }
    is_unsure = __syncthreads_or(is_unsure);
    if (threadIdx.x == 0) P[(long long)N * N + source] = is_unsure;
}
