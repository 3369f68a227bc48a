// What a result is joined with, in any semiring S: each has a header of its own that says what "plus" and "times" mean in
// C[i,j] = plus_k times(A[i,k], B[k,j]).
#pragma once
#include "join.cuh"
// *c = product (+) beta (x) *c. With beta = zero the old element is not read, whatever it holds.
template <class S, class Out, class Acc> __device__ void accumulate(Out* c, Acc product, Acc beta)
{
    *c = beta == S::zero() ? S::template narrow<Out>(product) : joined<S>(*c, product, beta);
}

// *c = alpha (x) sum (+) beta (x) *c.
template <class S, class Out, class Acc> __device__ void update(Out* c, Acc sum, Acc alpha, Acc beta)
{
    accumulate<S>(c, S::multiply(alpha, sum), beta);
}
