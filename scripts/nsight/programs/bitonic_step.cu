// One step of a bitonic sort: partners lie `apart` elements from each other.
extern "C" __global__ void bitonic_step(unsigned* keys, int apart, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ apart;
    if (j <= i) return;
    unsigned a = keys[i], b = keys[j];
    bool up = (i & length) == 0;
    if ((a > b) == up) keys[i] = b, keys[j] = a;
}
