// Tensor cores: one 16 x 16 x 16 product each, by wmma and by mma with ldmatrix.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_product(const __half *a, const __half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::fill_fragment(fc, 1.0f);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void mma_product(const __half *a, const __half *b, float *c) {
    __shared__ __align__(16) __half sa[256], sb[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32) { sa[i] = a[i]; sb[i] = b[i]; }
    __syncthreads();
    unsigned ra[4], rb[4];
    unsigned pa = (unsigned)__cvta_generic_to_shared(&sa[(t % 16) * 16 + t / 16 * 8]);
    unsigned pb = (unsigned)__cvta_generic_to_shared(&sb[(t % 8 + t / 16 * 8) * 16 + t / 8 % 2 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(rb[0]), "=r"(rb[1]), "=r"(rb[2]), "=r"(rb[3]) : "r"(pb));
    for (int half = 0; half < 2; half++) {
        float d[4] = {};
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[2 * half]), "r"(rb[2 * half + 1]));
        for (int i = 0; i < 4; i++) c[(t / 4 + i / 2 * 8) * 16 + half * 8 + t % 4 * 2 + i % 2] = d[i];
    }
}
