// In which order tiles of C are computed, so that those computed at the same time share rows of A and columns of B in the second-level cache.
#pragma once

// A tile: its row and column of tiles, and its product of the batch.
struct TilePlace {
    int row, col, batch;
};

// Bands of BAND rows of tiles, each from the first column to the last. The last band may have fewer rows.
template <int BAND> __device__ TilePlace tile_at(int index, int rows, int cols)
{
    const int batch = index / (rows * cols);
    index -= batch * rows * cols;
    const int band = index / (BAND * cols);
    index -= band * BAND * cols;
    const int height = min(BAND, rows - band * BAND);
    return {band * BAND + index % height, index / height, batch};
}
