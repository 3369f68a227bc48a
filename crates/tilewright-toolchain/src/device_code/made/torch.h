#pragma once
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__
#define C10_WARP_SIZE 32
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define CUDA_KERNEL_ASSERT(condition) assert(condition)

namespace c10 {

// Numbers of 16 bits that are computed as floats.
template <class Stored> struct alignas(2) Narrow {
    Stored stored;
    Narrow() = default;
    __host__ __device__ Narrow(Stored value) : stored(value) {}
    __host__ __device__ Narrow(float value) : stored(value) {}
    __host__ __device__ operator float() const { return static_cast<float>(stored); }
    __host__ __device__ operator Stored() const { return stored; }
};

#define TILEWRIGHT_NARROW_OPERATOR(sign)                                                                             \
    template <class S> __host__ __device__ Narrow<S> operator sign(Narrow<S> a, Narrow<S> b) { return float(a) sign float(b); }      \
    template <class S> __host__ __device__ float operator sign(Narrow<S> a, float b) { return float(a) sign b; }     \
    template <class S> __host__ __device__ float operator sign(float a, Narrow<S> b) { return a sign float(b); }     \
    template <class S> __host__ __device__ double operator sign(Narrow<S> a, double b) { return float(a) sign b; }   \
    template <class S> __host__ __device__ double operator sign(double a, Narrow<S> b) { return a sign float(b); }   \
    template <class S> __host__ __device__ Narrow<S> operator sign(Narrow<S> a, int b) { return float(a) sign float(b); }            \
    template <class S> __host__ __device__ Narrow<S> operator sign(int a, Narrow<S> b) { return float(a) sign float(b); }            \
    template <class S> __host__ __device__ Narrow<S>& operator sign##=(Narrow<S>& a, float b) { return a = float(a) sign b; }
TILEWRIGHT_NARROW_OPERATOR(+)
TILEWRIGHT_NARROW_OPERATOR(-)
TILEWRIGHT_NARROW_OPERATOR(*)
TILEWRIGHT_NARROW_OPERATOR(/)
#undef TILEWRIGHT_NARROW_OPERATOR
template <class S> __host__ __device__ Narrow<S> operator-(Narrow<S> a) { return -float(a); }

using Half = Narrow<__half>;
using BFloat16 = Narrow<__nv_bfloat16>;

} // namespace c10

namespace at {

using c10::BFloat16;
using c10::Half;

// What sums of a type are made in.
template <class T> struct OpMathType { using type = T; };
template <> struct OpMathType<Half> { using type = float; };
template <> struct OpMathType<BFloat16> { using type = float; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool is_cuda> using acc_type = opmath_type<T>;

template <class T> struct RestrictPtrTraits { using PtrType = T* __restrict__; };
template <class T> struct DefaultPtrTraits { using PtrType = T*; };

// Where random numbers start, by value or, in a captured graph, by address.
struct PhiloxCudaState {
    union Word {
        uint64_t val;
        int64_t* ptr;
    };
    Word seed_, offset_;
    uint32_t offset_intragraph_;
    bool captured_;
};

// An array with sizes and strides, as kernels get it of a tensor.
template <class T, int N, template <class> class Pointer = DefaultPtrTraits, class Index = int64_t> struct TensorAccessor {
    typename Pointer<T>::PtrType data_;
    const Index *sizes_, *strides_;
    __device__ TensorAccessor<T, N - 1, Pointer, Index> operator[](Index i) const {
        return {data_ + i * strides_[0], sizes_ + 1, strides_ + 1};
    }
    __device__ Index size(int i) const { return sizes_[i]; }
    __device__ Index stride(int i) const { return strides_[i]; }
    __device__ T* data() const { return data_; }
};
template <class T, template <class> class Pointer, class Index> struct TensorAccessor<T, 1, Pointer, Index> {
    typename Pointer<T>::PtrType data_;
    const Index *sizes_, *strides_;
    __device__ T& operator[](Index i) const { return data_[i * strides_[0]]; }
    __device__ Index size(int i) const { return sizes_[i]; }
    __device__ Index stride(int i) const { return strides_[i]; }
    __device__ T* data() const { return data_; }
};
template <class T, int N, template <class> class Pointer = DefaultPtrTraits, class Index = int64_t>
struct GenericPackedTensorAccessor {
    typename Pointer<T>::PtrType data_;
    Index sizes_[N], strides_[N];
    __device__ decltype(auto) operator[](Index i) const { return TensorAccessor<T, N, Pointer, Index>{data_, sizes_, strides_}[i]; }
    __device__ Index size(int i) const { return sizes_[i]; }
    __device__ Index stride(int i) const { return strides_[i]; }
    __device__ T* data() const { return data_; }
};
template <class T, int N, template <class> class Pointer = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Pointer, int32_t>;
template <class T, int N, template <class> class Pointer = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Pointer, int64_t>;

} // namespace at

namespace torch { using namespace at; }

template <class T> __device__ T WARP_SHFL(T value, int lane, int width = 32, unsigned mask = ~0u) { return __shfl_sync(mask, value, lane, width); }
template <class T> __device__ T WARP_SHFL_XOR(T value, int lane, int width = 32, unsigned mask = ~0u) { return __shfl_xor_sync(mask, value, lane, width); }
template <class T> __device__ T WARP_SHFL_UP(T value, unsigned by, int width = 32, unsigned mask = ~0u) { return __shfl_up_sync(mask, value, by, width); }
template <class T> __device__ T WARP_SHFL_DOWN(T value, unsigned by, int width = 32, unsigned mask = ~0u) { return __shfl_down_sync(mask, value, by, width); }
__device__ inline unsigned WARP_BALLOT(int predicate, unsigned mask = ~0u) { return __ballot_sync(mask, predicate); }
template <class T> __device__ T gpuAtomicAdd(T* to, T value) { return atomicAdd(to, value); }
__device__ inline c10::Half gpuAtomicAdd(c10::Half* to, c10::Half value) { return atomicAdd(&to->stored, value.stored); }
__device__ inline c10::BFloat16 gpuAtomicAdd(c10::BFloat16* to, c10::BFloat16 value) { return atomicAdd(&to->stored, value.stored); }
