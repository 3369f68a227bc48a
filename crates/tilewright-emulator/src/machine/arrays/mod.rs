//! Arrays that textures and surfaces are bound to.

pub mod sampler;
pub mod surface;
pub mod texels;
pub mod texture;
