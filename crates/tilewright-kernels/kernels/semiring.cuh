// What a result is joined with, in any semiring S: each has a header of its own that says what "plus" and "times" mean in
// C[i,j] = plus_k times(A[i,k], B[k,j]).
#pragma once

// *c = product (+) beta (x) *c. With beta = zero the old element is not read, whatever it holds.
template <class S, class T> __device__ void accumulate(T* c, T product, T beta)
{
    *c = beta == S::zero() ? product : S::add(S::multiply(beta, *c), product);
}

// *c = alpha (x) sum (+) beta (x) *c.
template <class S, class T> __device__ void update(T* c, T sum, T alpha, T beta)
{
    accumulate<S>(c, S::multiply(alpha, sum), beta);
}
