// Textures that nothing is bound to.

// A macro, so that lines are those of the kernels.
#define FETCH(result, texture, at)                                                                            \
    asm volatile("{ .reg .f32 y, z, w; tex.1d.v4.f32.s32 {%0, y, z, w}, [%1, {%2}]; }"                        \
                 : "=f"(result)                                                                               \
                 : "l"(texture), "r"(at))

//@ pair   texture_without_object
//@ launch grid=1 block=32
//@ args   u64=0 f32[32]
//@ finds  UnboundTexture lines=fetch threads=0-31
extern "C" __global__ void texture_without_object_faulty(unsigned long long texture, float *out) {
    float texel;
    FETCH(texel, texture, threadIdx.x); // @fetch
    out[threadIdx.x] = texel;
}
extern "C" __global__ void texture_without_object_correct(unsigned long long texture, float *out) {
    float texel = 0;
    if (texture)
        FETCH(texel, texture, threadIdx.x);
    out[threadIdx.x] = texel;
}
