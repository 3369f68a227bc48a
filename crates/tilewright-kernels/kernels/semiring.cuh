// What a result is joined with, in any semiring S: each has a header of its own that says what "plus" and "times" mean in
// C[i,j] = plus_k times(A[i,k], B[k,j]).
#pragma once

// *c = product (+) beta (x) *c. With beta = zero the old element is not read, whatever it holds.
template <class S, class Out, class Acc> __device__ void accumulate(Out* c, Acc product, Acc beta)
{
    if constexpr (S::HAS_ABSENT) {
        // Old elements may be larger than sums can be.
        if (beta == S::one()) {
            *c = S::add(*c, S::template narrow<Out>(product));
            return;
        }
    }
    *c = S::template narrow<Out>(beta == S::zero() ? product : S::add(S::multiply(beta, S::widen(*c)), product));
}

// *c = alpha (x) sum (+) beta (x) *c.
template <class S, class Out, class Acc> __device__ void update(Out* c, Acc sum, Acc alpha, Acc beta)
{
    accumulate<S>(c, S::multiply(alpha, sum), beta);
}
