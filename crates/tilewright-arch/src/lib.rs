//! What an NVIDIA GPU is, as data and pure functions, without a device.
