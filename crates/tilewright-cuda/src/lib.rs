//! Matrix products on NVIDIA GPUs.
