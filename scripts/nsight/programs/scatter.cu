// y[index[i]] = x[i] with indices at random.
extern "C" __global__ void scatter(const unsigned* index, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[index[i]] = x[i];
}
