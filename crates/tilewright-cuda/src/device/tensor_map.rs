//! Tensor maps: the 128 bytes that tell the tensor memory accelerator of a tensor. The driver alone knows their format.

use super::stream::Stream;
use crate::ffi::driver::{self as ffi, tensor_map as numbers};
use std::ffi::{c_uint, c_void};
use std::ptr;
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{Tensor, TensorMap};

/// Most dimensions of a tensor.
const RANK: usize = 5;
/// A box takes every element.
const ELEMENT_STRIDES: [u32; RANK] = [1; RANK];

/// Where the driver writes a map: its documentation asks for 64 bytes of alignment, the type in the headers of CUDA 13 for 128.
#[repr(C, align(128))]
struct Room(TensorMap);

/// The map of a tensor whose element 0 lies at `address`; `whose` names it in messages. The host alone works.
///
/// # Errors
/// `unsupported` for lists that do not have one number for each of 1 to 5 dimensions, `unavailable` for a driver without tensor maps, `device` for a
/// tensor that it refuses.
pub(crate) fn encode<M>(
    stream: &Stream,
    tensor: &Tensor<M>,
    address: ffi::Address,
    whose: impl Fn() -> String,
) -> Result<TensorMap, Error> {
    let rank = tensor.extents.len();
    if !(1..=RANK).contains(&rank) || tensor.strides.len() + 1 != rank || tensor.tile.len() != rank {
        let (what, why) = (format!("a tensor map for {}", whose()), wrong_lists(tensor));
        return Err(ErrorKind::Unsupported { what, why, hint: "".into() }.into());
    }
    let entered = stream.context.enter()?;
    let Some(encode_tiled) = entered.functions.cuTensorMapEncodeTiled else {
        let why = format!("{} needs one, and the driver makes none", whose());
        let hint = "update NVIDIA's driver to one for CUDA 12 or later".into();
        return Err(ErrorKind::Unavailable { what: "a tensor map", why, hint }.into());
    };
    let mut room = Room(TensorMap([0; 128]));
    // SAFETY: there is room for a map, aligned as the driver asks for, and each list was found to have as many numbers as it reads. What
    // lies at the address is not looked at.
    let code = unsafe {
        encode_tiled(
            (&raw mut room).cast(),
            numbers::element(tensor.element),
            rank as u32,
            ptr::without_provenance_mut::<c_void>(address as usize),
            tensor.extents.as_ptr(),
            tensor.strides.as_ptr(),
            tensor.tile.as_ptr(),
            ELEMENT_STRIDES.as_ptr(),
            numbers::NO_INTERLEAVE,
            numbers::swizzle(tensor.swizzle),
            promotion(tensor),
            numbers::FILL_WITH_ZEROS,
        )
    };
    stream
        .context
        .check(code, || format!("encoding the tensor map for {}: {}", whose(), describe(tensor, address)))?;
    Ok(room.0)
}

/// Rows that begin at multiples of 256 bytes are brought into the second-level cache by as many. Others lie across lines, and twice as much would be read.
fn promotion<M>(tensor: &Tensor<M>) -> c_uint {
    match tensor.strides.iter().all(|stride| stride.is_multiple_of(256)) {
        true => numbers::PROMOTE_256_BYTES,
        false => numbers::PROMOTE_128_BYTES,
    }
}

fn wrong_lists<M>(tensor: &Tensor<M>) -> String {
    let Tensor { extents, strides, tile, .. } = tensor;
    format!(
        "a tensor has 1 to {RANK} extents, as many of its tile, and one stride less; these are {}, {} and {}",
        extents.len(),
        tile.len(),
        strides.len()
    )
}

/// What was asked for, and what CUDA takes.
fn describe<M>(tensor: &Tensor<M>, address: ffi::Address) -> String {
    let Tensor { element, extents, strides, tile, swizzle, .. } = tensor;
    let swizzle = swizzle.bytes().map_or("no swizzle".into(), |bytes| format!("a swizzle of {bytes} bytes"));
    format!(
        "{extents:?} elements of type {element:?} at {address:#x}, strides of {strides:?} bytes, boxes of {tile:?} elements, {swizzle}; \
         addresses and strides are multiples of 16 bytes, a box has 1 to 256 elements along each dimension, and along the first \
         a multiple of 16 bytes that a swizzle has room for"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::fake;
    use tilewright_kernels::{Swizzle, TensorElement};

    fn matrix() -> Tensor<usize> {
        Tensor {
            memory: 0,
            element: TensorElement::Bf16,
            extents: vec![64, 32],
            strides: vec![128],
            tile: vec![64, 8],
            swizzle: Swizzle::B128,
        }
    }

    fn encoded(tensor: &Tensor<usize>, address: u64) -> Result<TensorMap, Error> {
        encode(&fake::healthy(), tensor, address, || "the argument B of k".into())
    }

    #[test]
    fn the_driver_is_told_what_the_tensor_says() {
        let map = encoded(&matrix(), 0x1230).expect("encoded");
        // Type, rank, swizzle, promotion, and zeros for interleave and fill.
        assert_eq!(map.0[..6], [9, 2, 3, 2, 0, 0]);
        let wide = Tensor { strides: vec![256], ..matrix() };
        assert_eq!(encoded(&wide, 16).expect("encoded").0[..6], [9, 2, 3, 3, 0, 0]);
        assert_eq!(map.0[8..16], 0x1230_u64.to_le_bytes());
        assert_eq!(map.0[16..24], 64_u64.to_le_bytes());
        let line = Tensor { extents: vec![7], strides: vec![], tile: vec![7], ..matrix() };
        assert_eq!(encoded(&line, 16).expect("encoded").0[1], 1);
    }

    #[test]
    fn what_the_driver_refuses_is_named_with_its_code() {
        let error = encoded(&matrix(), 8).expect_err("no multiple of 16");
        assert_eq!(error.code(), "device");
        let text = error.to_string();
        for part in
            ["the argument B of k", "(1)", "at 0x8", "strides of [128] bytes", "multiples of 16 bytes"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn lists_of_other_lengths_do_not_reach_the_driver() {
        let matrix = matrix();
        for wrong in [
            Tensor { extents: vec![], ..matrix.clone() },
            Tensor { extents: vec![64; 6], strides: vec![128; 5], tile: vec![8; 6], ..matrix.clone() },
            Tensor { strides: vec![], ..matrix.clone() },
            Tensor { tile: vec![64], ..matrix.clone() },
        ] {
            let error = encoded(&wrong, 0).expect_err("refused");
            assert_eq!(error.code(), "unsupported", "{wrong:?}");
            assert!(error.to_string().contains("the argument B of k"), "{error}");
        }
    }

    #[test]
    fn an_older_driver_lacks_tensor_maps() {
        let stream = fake::without_tensor_maps();
        let error = encode(&stream, &matrix(), 0, || "the argument B of k".into()).expect_err("absent");
        assert!(error.is_unavailable(), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("CUDA 12")), "{error:?}");
    }
}
