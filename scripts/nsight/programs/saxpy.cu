// y = a x + y.
extern "C" __global__ void saxpy(float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
