// (max, min): the widest paths.
#pragma once
#include "selective.cuh"

template <class T> using MaxMin = Bottleneck<Largest, Smallest, T>;
