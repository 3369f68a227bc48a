// How often z = z z + c stays within the circle of radius 2: at most 256 times.
extern "C" __global__ void mandelbrot(unsigned* counts, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = 3.0f * x / n - 2.2f, ci = 3.0f * y / n - 1.5f, zr = 0, zi = 0;
    unsigned count = 0;
    while (count < 256 && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        ++count;
    }
    counts[y * n + x] = count;
}
