// Each block sorts 1024 keys in shared memory.
extern "C" __global__ void bitonic_block(unsigned* keys)
{
    __shared__ unsigned mine[1024];
    int t = threadIdx.x;
    mine[t] = keys[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int length = 2; length <= 1024; length *= 2)
        for (int apart = length / 2; apart > 0; apart /= 2) {
            int other = t ^ apart;
            if (other > t) {
                unsigned a = mine[t], b = mine[other];
                if ((a > b) == ((t & length) == 0)) mine[t] = b, mine[other] = a;
            }
            __syncthreads();
        }
    keys[blockIdx.x * 1024 + t] = mine[t];
}
