// wgmma_copy: copies operands that the tensor memory accelerator cannot read: each row begins at a multiple of 16 bytes then.
#include "config.cuh"
#include "ptx.cuh"

// Elements that are written at a time.
enum : int { EIGHT = 8 };

// An operand: row r of product z becomes `eights` times 8 elements at to[(z * rows + r) * eights], those beyond `cols` zeros.
struct Operand {
    const T* from;
    uint4* to;
    int rows, cols;
    long long row_stride, col_stride, batch_stride;
    int eights, products;
};

__device__ void copy(const Operand& operand)
{
    const long long count = static_cast<long long>(operand.rows) * operand.eights * operand.products, threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const long long line = i / operand.eights;
        const int col = int(i % operand.eights) * EIGHT;
        const T* from = operand.from + line / operand.rows * operand.batch_stride + line % operand.rows * operand.row_stride + col * operand.col_stride;
        unsigned words[EIGHT / 2];
#pragma unroll
        for (int pair = 0; pair < EIGHT / 2; ++pair) {
            const unsigned low = col + 2 * pair < operand.cols ? from[2 * pair * operand.col_stride].bits : 0;
            const unsigned high = col + 2 * pair + 1 < operand.cols ? from[(2 * pair + 1) * operand.col_stride].bits : 0;
            words[pair] = low | high << 16;
        }
        operand.to[i] = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

// Copies A, B or both; one without rows stays.
extern "C" __global__ void __launch_bounds__(256)
    wgmma_copy(const T* A, uint4* copied_a, int a_rows, int a_cols, long long a_row, long long a_col, long long a_batch, int a_eights, int a_products,
               const T* B, uint4* copied_b, int b_rows, int b_cols, long long b_row, long long b_col, long long b_batch, int b_eights, int b_products)
{
    let_next_kernel_start();
    wait_for_previous_kernel();
    copy({A, copied_a, a_rows, a_cols, a_row, a_col, a_batch, a_eights, a_products});
    copy({B, copied_b, b_rows, b_cols, b_row, b_col, b_batch, b_eights, b_products});
}
