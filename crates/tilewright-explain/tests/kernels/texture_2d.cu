__global__ void copy(cudaTextureObject_t t, float *out) {
    out[threadIdx.y * 8 + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}
