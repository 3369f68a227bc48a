// What becomes of sums: C with alpha and beta, or parts that another kernel joins.
#pragma once

#include "config.cuh"
#include "finish.cuh"
#include "numbers.cuh"

// Two neighbours of a row, and four.
template <class E> struct alignas(2 * sizeof(E)) Pair {
    E left, right;
};
struct alignas(16) Four {
    Acc x[4];
};

// C, and what becomes of it: alpha times the sums plus beta times what was there, and what follows.
struct Result {
    Out* first;
    long long row_stride, batch_stride;
    int rows, cols;
    Acc alpha, beta;
    Bias bias;

    __device__ Out* at(int row, int col, int batch) const { return first + batch * batch_stride + row * row_stride + col; }

    // From sums to elements, not yet rounded: two neighbours.
    __device__ void finish(Acc& left, Acc& right, int row, int col, int batch) const
    {
        join(left, right, row, col, batch);
        if constexpr (BIAS || ACTIVATION) {
            if (row >= rows) return;
            if (col < cols) left = bias.finish(left, row, col);
            if (col + 1 < cols) right = bias.finish(right, row, col + 1);
        }
    }

    // Two sums and what was there.
    __device__ void join(Acc& left, Acc& right, int row, int col, int batch) const
    {
        left = R::multiply(alpha, left);
        right = R::multiply(alpha, right);
        if (beta == 0 || row >= rows) return;
        const Out* old = at(row, col, batch);
        if (col < cols) left = R::multiply_add(beta, convert<Acc>(old[0]), left);
        if (col + 1 < cols) right = R::multiply_add(beta, convert<Acc>(old[1]), right);
    }

    // Two neighbours that are finished, of which the first is in C: at once where they lie so.
    __device__ void write(Acc left, Acc right, int row, int col, int batch) const
    {
        Out* to = at(row, col, batch);
        if (col + 1 < cols && reinterpret_cast<unsigned long long>(to) % sizeof(Pair<Out>) == 0) {
            *reinterpret_cast<Pair<Out>*>(to) = {convert<Out>(left), convert<Out>(right)};
            return;
        }
        to[0] = convert<Out>(left);
        if (col + 1 < cols) to[1] = convert<Out>(right);
    }
};

// Parts of the sums of each product, one after another: rows of a multiple of four columns.
struct Parts {
    Acc* first;
    int rows, cols;

    __device__ int pitch() const { return (cols + 3) / 4 * 4; }

    // Two neighbours, the first in an even column.
    __device__ void write(int part, int row, int col, Acc left, Acc right) const
    {
        if (row >= rows || col >= cols) return;
        Acc* to = first + (static_cast<long long>(part) * rows + row) * pitch() + col;
        *reinterpret_cast<Pair<Acc>*>(to) = {left, right};
    }
};
