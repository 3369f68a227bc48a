// Several neighbouring elements that one instruction loads or stores.
#pragma once

template <class T, int COUNT> struct alignas(COUNT * sizeof(T)) Vector {
    T element[COUNT];
    __device__ T& operator[](int i) { return element[i]; }
    __device__ T operator[](int i) const { return element[i]; }
};

// Reads or writes COUNT elements at an address that is a multiple of their size.
template <int COUNT, class T> __device__ Vector<T, COUNT> load_vector(const T* from)
{
    return *reinterpret_cast<const Vector<T, COUNT>*>(from);
}
template <int COUNT, class T> __device__ void store_vector(T* to, const Vector<T, COUNT>& value)
{
    *reinterpret_cast<Vector<T, COUNT>*>(to) = value;
}
