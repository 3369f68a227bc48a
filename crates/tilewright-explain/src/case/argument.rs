//! Arguments of a launch that name arrays.

use super::TextureOver;
use std::convert::Infallible;
use tilewright_kernels::{Argument as Any, Buffer};

/// An argument that names arrays by their place in a list.
pub type Argument = Any<usize, TextureOver>;

/// An address that lies in an array of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The array of addresses.
    pub array: usize,
    /// Bytes from its start.
    pub offset: usize,
    /// The array whose address it is.
    pub target: usize,
}

/// The argument of a recipe; `place` finds a buffer in the list of arrays. `None` for a buffer that is not
/// there.
pub(super) fn of_recipe(value: &Any, place: &dyn Fn(Buffer) -> Option<usize>) -> Option<Argument> {
    let array = |buffer: &Buffer| place(*buffer).ok_or(());
    let texture = |buffer: &Buffer| array(buffer).map(|array| TextureOver::by_index(array as u64 + 1, array));
    value.rename(array, texture).ok()
}

/// The same in a list in which the arrays have other places.
pub(super) fn moved(argument: &Argument, places: &[usize]) -> Argument {
    let texture = |texture: &TextureOver| Ok(TextureOver { array: places[texture.array], ..*texture });
    let Ok(moved) = argument.rename::<_, _, Infallible>(|&array| Ok(places[array]), texture);
    moved
}

/// The same for a launch that knows the textures by their handles.
pub(crate) fn by_handle(argument: &Argument) -> Any<usize> {
    if let Argument::Texture(texture) = argument {
        return Any::i64(texture.handle.cast_signed());
    }
    let Ok(named) = argument.rename::<_, _, Infallible>(|&array| Ok(array), |texture| Ok(texture.array));
    named
}

/// Writes the address of an array, little-endian.
pub fn put_address(bytes: &mut [u8], offset: usize, array: usize, addresses: &[u64]) {
    let address = addresses.get(array).copied().unwrap_or_default();
    for (to, from) in bytes.iter_mut().skip(offset).zip(address.to_le_bytes()) {
        *to = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_kernels::{Swizzle, Tensor, TensorElement};

    fn tensor<M>(memory: M) -> Tensor<M> {
        Tensor {
            memory,
            element: TensorElement::F16,
            extents: vec![64, 32],
            strides: vec![128],
            tile: vec![64, 8],
            swizzle: Swizzle::B128,
        }
    }

    #[test]
    fn a_tensor_is_over_the_array_of_its_buffer_wherever_that_is() {
        let place = |buffer| (buffer == Buffer::B).then_some(1);
        let argument = of_recipe(&Any::Tensor(Box::new(tensor(Buffer::B))), &place).expect("B is there");
        assert_eq!(argument, Argument::Tensor(Box::new(tensor(1))));
        assert_eq!(moved(&argument, &[5, 7]), Argument::Tensor(Box::new(tensor(7))));
        assert_eq!(by_handle(&argument), Any::Tensor(Box::new(tensor(1))));
        assert_eq!(of_recipe(&Any::Tensor(Box::new(tensor(Buffer::A))), &place), None);
    }
}
