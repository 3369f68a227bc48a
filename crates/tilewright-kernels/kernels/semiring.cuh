// The semirings: what "plus" and "times" mean in C[i,j] = plus_k times(A[i,k], B[k,j]).
#pragma once

template <class T> __device__ T infinity() { return T(__longlong_as_double(0x7ff0000000000000)); }

template <class T> struct PlusTimes {
    static __device__ T zero() { return T(0); }
    static __device__ T one() { return T(1); }
    static __device__ T multiply(T a, T b) { return a * b; }
    static __device__ T add(T x, T y) { return x + y; }
    static __device__ T multiply_add(T a, T b, T sum) { return a * b + sum; }
};

// Unsigned arithmetic: it wraps, where signed overflow is undefined.
template <> struct PlusTimes<int> {
    static __device__ int zero() { return 0; }
    static __device__ int one() { return 1; }
    static __device__ int multiply(int a, int b) { return int(unsigned(a) * unsigned(b)); }
    static __device__ int add(int x, int y) { return int(unsigned(x) + unsigned(y)); }
    static __device__ int multiply_add(int a, int b, int sum) { return add(multiply(a, b), sum); }
};

template <class T> struct MinPlus {
    static __device__ T zero() { return infinity<T>(); }
    static __device__ T one() { return T(0); }
    static __device__ T multiply(T a, T b) { return a + b; }
    static __device__ T add(T x, T y) { return min(x, y); }
    static __device__ T multiply_add(T a, T b, T sum) { return add(sum, multiply(a, b)); }
};

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
