// The largest value of a floating-point type.
#pragma once

template <class T> __device__ T infinity() { return T(__longlong_as_double(0x7ff0000000000000)); }
