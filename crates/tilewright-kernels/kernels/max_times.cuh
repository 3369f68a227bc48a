// (max, x): the most reliable paths.
#pragma once
#include "selective.cuh"

template <class T> using MaxTimes = Multiplicative<Largest, T>;
