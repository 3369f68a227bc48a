//! The CUDA C++ kernels, and for each a recipe that holds everything needed to launch it.
