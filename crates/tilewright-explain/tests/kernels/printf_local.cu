#include <stdio.h>
__global__ void hello(int n) {
    if (threadIdx.x < n) printf("%d of %d\n", threadIdx.x, n);
}
