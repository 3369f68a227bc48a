//! The arguments of a launch, bound: names of memory have become addresses, and every value lies where its
//! type may.

use crate::device::{Stream, Texture, encode_tensor_map};
use std::ffi::c_void;
use std::fmt::Display;
use std::sync::Arc;
use tilewright_core::Error;
use tilewright_kernels::{Argument, Scalar};

/// Words of 8 bytes, as many as a tensor map is aligned to.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; LINE]);

const LINE: usize = 8;
/// Words between the starts of structs, whose vectors are aligned to 16 bytes at most.
const STRUCT: usize = 2;
const WORD: usize = size_of::<u64>();
/// Lines of a tensor map, and the rest of the one in front of it.
const MAP_LINES: usize = 3;

/// The parameters of a launch. The driver copies them to where the entry has them; here each begins at a
/// multiple of what its type is aligned to.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    lines: Vec<Line>,
    /// The word at which each begins.
    starts: Vec<usize>,
    /// Words so far.
    words: usize,
    /// Textures wait for their kernel when they are dropped.
    textures: Vec<Texture>,
}

impl Parameters {
    /// Binds the arguments of `kernel` in the order of the entry's parameters, each with its name in messages. `place` finds
    /// the address of memory, and its bytes.
    ///
    /// # Safety
    /// Memory that textures are over must outlive what is returned.
    ///
    /// # Errors
    /// Those of `place`; `device` for a texture or a tensor map that the driver refuses; `unavailable` for a tensor map where the driver
    /// encodes none.
    pub(super) unsafe fn bind<'a, N: Display, M: Copy + 'a>(
        stream: &Arc<Stream>,
        kernel: &str,
        arguments: impl ExactSizeIterator<Item = (N, &'a Argument<M>)> + Clone,
        place: impl Fn(M) -> Result<(u64, usize), Error>,
    ) -> Result<Self, Error> {
        let mut bound = Self { starts: Vec::with_capacity(arguments.len()), ..Self::default() };
        let is_map =
            |argument: &Argument<M>| matches!(argument, Argument::TensorMap(_) | Argument::Tensor(_));
        let maps = arguments.clone().filter(|(_, argument)| is_map(argument)).count();
        bound.lines.reserve(arguments.len().div_ceil(LINE) + MAP_LINES * maps);
        for (name, argument) in arguments {
            match argument {
                Argument::Pointer(memory) => bound.push(1, [place(*memory)?.0]),
                Argument::Texture(memory) => {
                    let (address, bytes) = place(*memory)?;
                    // SAFETY: the caller's promise.
                    let texture = unsafe { Texture::new(stream, address, bytes)? };
                    bound.push(1, [texture.handle]);
                    bound.textures.push(texture);
                }
                // Narrow values take the lower bytes, which every host of a CUDA device has first.
                Argument::Scalar(Scalar::I32(x)) => bound.push(1, [x.cast_unsigned().into()]),
                Argument::Scalar(Scalar::I64(x)) => bound.push(1, [x.cast_unsigned()]),
                Argument::Scalar(Scalar::F32(x)) => bound.push(1, [x.to_bits().into()]),
                Argument::Scalar(Scalar::F64(x)) => bound.push(1, [x.to_bits()]),
                Argument::Bytes { bytes, pointers } if pointers.is_empty() => {
                    bound.push(STRUCT, words(bytes))
                }
                Argument::Bytes { bytes, pointers } => {
                    let mut bytes = bytes.clone();
                    for (offset, memory) in pointers {
                        let address = place(*memory)?.0.to_le_bytes();
                        bytes.iter_mut().skip(*offset).zip(address).for_each(|(to, from)| *to = from);
                    }
                    bound.push(STRUCT, words(&bytes));
                }
                Argument::TensorMap(map) => bound.push(LINE, words(&map.0)),
                Argument::Tensor(tensor) => {
                    let (address, _) = place(tensor.memory)?;
                    let whose = || format!("the argument {name} of {kernel}");
                    bound.push(LINE, words(&encode_tensor_map(stream, tensor, address, whose)?.0));
                }
            }
        }
        Ok(bound)
    }

    fn push(&mut self, alignment: usize, words: impl IntoIterator<Item = u64>) {
        self.words = self.words.next_multiple_of(alignment);
        self.starts.push(self.words);
        for word in words {
            self.lines.resize(self.words / LINE + 1, Line([0; LINE]));
            self.lines[self.words / LINE].0[self.words % LINE] = word;
            self.words += 1;
        }
    }

    /// The address of each, as the driver takes them; valid while nothing else is done with these.
    pub(super) fn pointers(&mut self) -> Vec<*mut c_void> {
        let base: *mut u64 = self.lines.as_mut_ptr().cast();
        self.starts.iter().map(|&word| base.wrapping_add(word).cast()).collect()
    }
}

const _: () = assert!(cfg!(target_endian = "little"), "arguments are passed by their lower bytes");

/// Bytes in words, the last filled up with zeros.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(WORD).map(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_kernels::{Swizzle, Tensor, TensorElement, TensorMap};

    /// What lies at each address: so many bytes.
    fn found(arguments: &[(Argument<usize>, usize)]) -> Vec<Vec<u8>> {
        let stream = crate::device::fake_stream();
        let place = |memory: usize| Ok((0x1000 * (memory as u64 + 1), 64));
        // SAFETY: there are no textures.
        let bound =
            unsafe { Parameters::bind(&stream, "k", arguments.iter().map(|(one, _)| ("x", one)), place) };
        let mut bound = bound.expect("bound");
        let pointers = bound.pointers();
        let read = |(pointer, (argument, bytes)): (&*mut c_void, &(Argument<usize>, usize))| {
            let alignment = match argument {
                Argument::TensorMap(_) | Argument::Tensor(_) => 64,
                Argument::Bytes { .. } => 16,
                _ => 8,
            };
            assert!(pointer.addr().is_multiple_of(alignment), "{argument:?}");
            // SAFETY: a value of this argument lies there.
            unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), *bytes) }.to_vec()
        };
        pointers.iter().zip(arguments).map(read).collect()
    }

    #[test]
    fn values_lie_as_they_were_given_and_as_they_are_aligned() {
        let bytes: Vec<u8> = (1..=12).collect();
        let mut with_address = vec![7; 24];
        with_address[8..16].copy_from_slice(&0x2000_u64.to_le_bytes());
        let map = TensorMap(std::array::from_fn(|i| i as u8));
        let all = [
            (Argument::i32(-2), 4),
            (Argument::bytes(bytes.clone()), 12),
            (Argument::Pointer(2), 8),
            (Argument::TensorMap(Box::new(map.clone())), 128),
            (Argument::f32(1.5), 4),
            (Argument::Bytes { bytes: vec![7; 24], pointers: vec![(8, 1)] }, 24),
            (Argument::f64(-0.5), 8),
            (Argument::i64(1 << 40), 8),
        ];
        assert_eq!(
            found(&all),
            [
                (-2_i32).to_le_bytes().to_vec(),
                bytes,
                0x3000_u64.to_le_bytes().to_vec(),
                map.0.to_vec(),
                1.5_f32.to_le_bytes().to_vec(),
                with_address,
                (-0.5_f64).to_le_bytes().to_vec(),
                (1_i64 << 40).to_le_bytes().to_vec(),
            ]
        );
    }

    /// What the fake driver encodes begins with the type and has the address in its second word.
    #[test]
    fn tensors_are_encoded_with_the_address_of_their_memory() {
        let tensor = |memory| {
            Argument::Tensor(Box::new(Tensor {
                memory,
                element: TensorElement::F16,
                extents: vec![64, 32],
                strides: vec![128],
                tile: vec![64, 8],
                swizzle: Swizzle::B128,
            }))
        };
        let all = [(Argument::i32(7), 4), (tensor(4), 128), (Argument::i32(8), 4), (tensor(1), 128)];
        let found = found(&all);
        assert_eq!((&found[0][..], &found[2][..]), (&[7, 0, 0, 0][..], &[8, 0, 0, 0][..]));
        for (map, address) in [(&found[1], 0x5000_u64), (&found[3], 0x2000)] {
            assert_eq!((map[0], &map[8..16]), (6, &address.to_le_bytes()[..]));
        }
    }

    #[test]
    fn room_for_tensor_maps_is_made_once() {
        let map = || Argument::<usize>::TensorMap(Box::new(TensorMap([1; 128])));
        let all = [Argument::i32(1), map(), Argument::i32(2), map(), map(), Argument::i32(3), map()];
        let place = |_| Ok((0, 0));
        let arguments = all.iter().enumerate();
        // SAFETY: there are no textures.
        let bound = unsafe { Parameters::bind(&crate::device::fake_stream(), "k", arguments, place) };
        let bound = bound.expect("bound");
        assert!(bound.lines.len() <= all.len().div_ceil(LINE) + MAP_LINES * 4, "{}", bound.lines.len());
    }

    #[test]
    fn nothing_takes_no_room() {
        assert_eq!(found(&[]), Vec::<Vec<u8>>::new());
        assert_eq!(found(&[(Argument::bytes([]), 0)]), [Vec::<u8>::new()]);
    }
}
