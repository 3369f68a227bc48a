// The few PTX instructions that C++ has no name for.
#pragma once

// The address of shared memory, as instructions take it.
__device__ inline unsigned shared_address(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Starts copying BYTES (4, 8 or 16) from global to shared memory and goes on; where `inside` is false nothing is read and
// zero bytes are written. Before compute capability 8.0 it waits for the copy.
template <int BYTES> __device__ void copy_async(unsigned to, const void* from, bool inside)
{
#if __CUDA_ARCH__ >= 800
    const int read = inside ? BYTES : 0;
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES), "r"(read)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES), "r"(read)
                     : "memory");
    }
#else
    const unsigned* words = static_cast<const unsigned*>(from);
    for (int i = 0; i < BYTES / 4; ++i) {
        const unsigned word = inside ? words[i] : 0;
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(to + 4 * i), "r"(word) : "memory");
    }
#endif
}

// Writes to shared memory by its address.
__device__ inline void store_shared(unsigned to, float x) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(x) : "memory"); }
__device__ inline void store_shared(unsigned to, double x) { asm volatile("st.shared.f64 [%0], %1;" ::"r"(to), "d"(x) : "memory"); }
__device__ inline void store_shared(unsigned to, int x) { asm volatile("st.shared.s32 [%0], %1;" ::"r"(to), "r"(x) : "memory"); }
__device__ inline void store_shared(unsigned to, long long x)
{
    asm volatile("st.shared.s64 [%0], %1;" ::"r"(to), "l"(x) : "memory");
}

// Reads shared memory by its address.
__device__ inline float shared_float(unsigned from)
{
    float x;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from));
    return x;
}

// Closes a group of copies.
__device__ inline void commit_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most PENDING of this thread's groups are under way.
template <int PENDING> __device__ void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

// Lets the next kernel of the stream start while this one runs, and waits for the results of the one before. Only kernels
// that wait are launched early.
__device__ inline void let_next_kernel_start()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ inline void wait_for_previous_kernel()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
