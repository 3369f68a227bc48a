// An old element of C and a new result, in any semiring S.
#pragma once

// product (+) beta (x) old. A selection keeps its first operand where the second is NaN. Where integers stand for "absent", old elements may be larger than sums can be.
template <class S, class Out, class Acc> __device__ Out joined(Out old, Acc product, Acc beta)
{
    if constexpr (S::HAS_ABSENT) {
        if (beta == S::one()) return S::add(old, S::template narrow<Out>(product));
    }
    return S::template narrow<Out>(S::add(product, S::multiply(beta, S::operand(S::widen(old)))));
}
