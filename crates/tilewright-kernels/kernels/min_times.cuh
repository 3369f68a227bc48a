// (min, x) on numbers that are not negative.
#pragma once
#include "selective.cuh"

template <class T> using MinTimes = Multiplicative<Smallest, T>;
