// dmma_copy: copies operands that the tensor memory accelerator cannot read: each line begins at a multiple of 16 bytes then.
#include "config.cuh"
#include "ptx.cuh"

// An operand: line r of product z becomes `pairs` times two numbers at to[(z * rows + r) * pairs], those beyond `cols` zeros.
struct Operand {
    const T* from;
    double2* to;
    int rows, cols;
    long long row_stride, col_stride, batch_stride;
    int pairs, products;
};

__device__ void copy(const Operand& operand)
{
    const long long count = static_cast<long long>(operand.rows) * operand.pairs * operand.products, threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const long long line = i / operand.pairs;
        const int col = int(i % operand.pairs) * 2;
        const T* from = operand.from + line / operand.rows * operand.batch_stride + line % operand.rows * operand.row_stride + col * operand.col_stride;
        operand.to[i] = make_double2(col < operand.cols ? from[0] : 0, col + 1 < operand.cols ? from[operand.col_stride] : 0);
    }
}

// Copies A, B or both; one without lines stays.
extern "C" __global__ void __launch_bounds__(256)
    dmma_copy(const T* A, double2* copied_a, int a_rows, int a_cols, long long a_row, long long a_col, long long a_batch, int a_pairs, int a_products, const T* B,
              double2* copied_b, int b_rows, int b_cols, long long b_row, long long b_col, long long b_batch, int b_pairs, int b_products)
{
    let_next_kernel_start();
    wait_for_previous_kernel();
    copy({A, copied_a, a_rows, a_cols, a_row, a_col, a_batch, a_pairs, a_products});
    copy({B, copied_b, b_rows, b_cols, b_row, b_col, b_batch, b_pairs, b_products});
}
