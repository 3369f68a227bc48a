// The order in which blocks compute the tiles of C.
#pragma once

// Tiles that run together form a patch that is GROUP tiles high, so that they share rows of A and columns of B in the
// second-level cache.
constexpr int GROUP = 8;

// A tile's place among the tiles of C.
struct Position {
    int m, n;
};

__device__ inline Position position(int tile, int tiles_m, int tiles_n)
{
    const int patch = tile / (GROUP * tiles_n), in_patch = tile % (GROUP * tiles_n);
    const int height = min(GROUP, tiles_m - patch * GROUP);
    return {patch * GROUP + in_patch % height, in_patch / height};
}
