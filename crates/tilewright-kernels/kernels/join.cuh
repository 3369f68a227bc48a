// An old element of C and a new result, in any semiring S.
#pragma once

// beta (x) old (+) product. Where integers stand for "absent", old elements may be larger than sums can be. A selection keeps its first operand where the
// second is NaN; other sums may depend on the order (IN_ORDER).
template <class S, class Out, class Acc> __device__ Out joined(Out old, Acc product, Acc beta)
{
    if constexpr (S::HAS_ABSENT) {
        if (beta == S::one()) return S::add(old, S::template narrow<Out>(product));
    }
    const Acc kept = S::multiply(beta, S::operand(S::widen(old)));
    return S::template narrow<Out>(S::IN_ORDER ? S::add(kept, product) : S::add(product, kept));
}
