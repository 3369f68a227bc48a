// (max, +): lengths of longest paths.
#pragma once
#include "selective.cuh"

template <class T> using MaxPlus = Additive<Largest, T>;
