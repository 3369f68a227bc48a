// Predicated launches: the data decide which of several programs computes a product.
//
// Programs for some data alone come before a fallback for all data. What looks at the data says which of them it excludes,
// a bit each. All are launched: the first whose guard holds computes, and the others end at once.
#pragma once

enum Excluded : int {
    NOT_CLOSE = 1,  // two columns a word, as distances of 16 bits
    NOT_NEAR = 2,   // distances of 32 bits
    NOT_PAIRS = 4,  // floats without the other sign, two terms at a time
    ALL_PROGRAMS = 7
};

// What any thread of a block excludes.
__device__ inline int excluded_by_block(int excluded)
{
    int all = 0;
#pragma unroll
    for (int bit = 1; bit < ALL_PROGRAMS; bit *= 2)
        if (__syncthreads_or(excluded & bit)) all |= bit;
    return all;
}

// The guard of the program `own` (0 for the fallback): those in `earlier` are excluded, and it is not.
__device__ inline bool is_turn(int excluded, int earlier, int own) { return (excluded & (earlier | own)) == earlier; }

// The same for a block, where `count` blocks have said what they exclude.
__device__ inline bool is_turn_of_block(const int* found, int count, int earlier, int own)
{
    int excluded = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) excluded |= found[i];
    return is_turn(excluded_by_block(excluded), earlier, own);
}
