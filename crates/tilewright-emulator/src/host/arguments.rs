//! Arguments of a launch.

use super::pointer::DevicePointer;

/// One argument of an entry: its bytes, as C would pass them by value.
///
/// ```
/// use tilewright_emulator::Argument;
///
/// let n = Argument::from(256u32);
/// let scale = Argument::from(1.5f32);
/// // A struct of two ints.
/// let pair = Argument::bytes(bytemuck::bytes_of(&[3i32, 4]));
/// assert_eq!(pair.as_bytes(), [3, 0, 0, 0, 4, 0, 0, 0]);
/// # let _ = (n, scale);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(Vec<u8>);

impl Argument {
    /// A value of any type, a struct for one, as it lies in memory.
    pub fn bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

macro_rules! from_number {
    ($($number:ty),*) => {$(
        impl From<$number> for Argument {
            fn from(value: $number) -> Self {
                Self(value.to_le_bytes().to_vec())
            }
        }
    )*};
}

from_number!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl From<DevicePointer> for Argument {
    fn from(pointer: DevicePointer) -> Self {
        pointer.address().into()
    }
}
