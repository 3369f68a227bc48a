// split-k-reduce: adds the partial results of a product whose sum over k was split among blocks.
//
// The parts are added in the order of k, one thread per element of C, so that the result is the same in every run.
#include "config.cuh"
#include "ptx.cuh"

extern "C" __global__ void __launch_bounds__(256)
split_k_reduce(const T* parts, T* C, int M, int N, int splits, long long c_row, long long c_col, long long c_batch,
               int first_batch, T alpha, T beta)
{
    const long long size = (long long)M * N, i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= size) return;
    const long long batch = first_batch + blockIdx.y;

    const T* part = parts + batch * splits * size + i;
    wait_for_previous_kernel();
    T sum = S::zero();
    for (int s = 0; s < splits; ++s) sum = S::add(sum, part[s * size]);
    update<S>(&C[batch * c_batch + i / N * c_row + i % N * c_col], sum, alpha, beta);
}
