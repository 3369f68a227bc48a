// (min, +): lengths of shortest paths.
#pragma once
#include "selective.cuh"

template <class T> using MinPlus = Additive<Smallest, T>;
