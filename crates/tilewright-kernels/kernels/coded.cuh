// What words need besides their bits to stand for numbers: most need nothing.
#pragma once

struct NoCode {};

template <class Words> struct Coded {
    using Code = NoCode;
    enum { PACKERS = 3 };  // blocks that pack on a multiprocessor, for which there are registers
    // The code of sums, from where the decision lies.
    static __device__ Code sum(const int*) { return {}; }
    // What the data exclude, as it was decided; the codes are shared by the block.
    static __device__ int decide(int* decision, const void*, int, Code (&)[2]) { return *decision; }
    template <class E> static __device__ unsigned half(E x, Code) { return Words::half(x); }
    template <class E> static __device__ auto word(E x, Code) { return Words::operand(Words::widen(x)); }
    template <class Word> static __device__ auto number(Word word, int column, Code) { return Words::number(word, column); }
    static __device__ auto padding() { return Words::zero(); }
};
