// (min, max): paths whose largest step is the smallest.
#pragma once
#include "selective.cuh"

template <class T> using MinMax = Bottleneck<Smallest, Largest, T>;
