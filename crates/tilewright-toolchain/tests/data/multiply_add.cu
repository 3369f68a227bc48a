// An 8 x 8 tile of sums in f64: long runs of multiply-adds whose neighbours share operands.
extern "C" __global__ void multiply_add(const double* a, const double* b, double* c, int k) {
    double sums[8][8] = {};
    for (int t = 0; t < k; t++) {
        double x[8], y[8];
        for (int i = 0; i < 8; i++) x[i] = a[t * 8 + i];
        for (int j = 0; j < 8; j++) y[j] = b[t * 8 + j];
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sums[i][j] += x[i] * y[j];
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) c[i * 8 + j] = sums[i][j];
}
