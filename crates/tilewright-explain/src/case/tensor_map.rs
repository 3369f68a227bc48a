//! Tensor maps over arrays, as arguments: `tensormap(box=[64,64],swizzle=128):bf16[256,256]:random`.
//!
//! Extents stand as those of arrays do, the slowest first; CUDA's functions take them the other way round.

use crate::array::{Array, Number, expression::evaluate, split};
use tilewright_emulator::tensor_map::{ElementType, Fill, Im2col, Interleave, RANK, Swizzle, TensorMap};

/// Where the address lies in the bytes of a map.
pub use tilewright_emulator::tensor_map::{ADDRESS, BYTES};

/// The words, for a hint.
const WORDS: &str = "box=[64,64], swizzle=32, 64 or 128, interleave=16 or 32, shape=[4,256,64], strides=[64,256,1], step=[1,1], nan, tf32, ftz, \
    and for im2col lower=[-1,-1], upper=[-1,-1], channels=64, pixels=64";

/// The text between the brackets, and that of the array; `None` for another text.
pub fn of(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("tensormap(")?.split_once("):")
}

/// Whether this is CUDA's name for the type.
pub fn is_tensor_map(name: &str) -> bool {
    matches!(name, "CUtensorMap" | "CUtensorMap_st")
}

/// The map of the array that `words` speak of, without its address; `known` has the sizes that expressions may name.
pub fn over(words: &str, array: &Array, known: &dyn Fn(&str) -> Option<i128>) -> Result<TensorMap, String> {
    let words = Words::of(words, known)?;
    let shape: Vec<i128> =
        words.shape.unwrap_or_else(|| array.shape.iter().map(|&extent| extent as i128).collect());
    let rank = shape.len();
    if !(1..=RANK).contains(&rank) {
        return Err(format!("a tensor has 1 to {RANK} dimensions, and not {rank}"));
    }
    let strides = words.strides.unwrap_or_else(|| row_major(&shape));
    if strides.len() != rank || strides[rank - 1] != 1 {
        return Err(format!("strides are those of {rank} dimensions in elements, and the last is 1"));
    }
    let steps =
        shape.iter().zip(&strides).map(|(extent, stride)| extent.saturating_sub(1).saturating_mul(*stride));
    let reached = steps.fold(1_i128, i128::saturating_add);
    let elements = (array.bytes.len() / array.element.size().max(1)) as i128;
    if reached > elements {
        return Err(format!(
            "the tensor has {reached} elements from its first to its last, the array {elements}"
        ));
    }
    let element = element(array, words.is_tf32, words.flushes)?;
    let bytes = i128::from(element.bytes());
    let strides: Vec<i128> = strides[..rank - 1].iter().map(|stride| stride.saturating_mul(bytes)).collect();
    let im2col = im2col(&words.pixels, rank)?;
    let boxes = match (words.boxes, &im2col) {
        (Some(boxes), None) => boxes,
        (None, Some(_)) => vec![1; rank],
        (None, None) => return Err("its box is missing, as in box=[64,64]".into()),
        (Some(_), Some(_)) => {
            return Err("a map of im2col mode has channels and pixels in place of a box".into());
        }
    };
    let map = TensorMap {
        element,
        rank,
        address: 0,
        extents: fastest_first("shape", &shape, rank)?,
        strides: fastest_first("strides", &strides, rank - 1)?,
        boxes: fastest_first("box", &boxes, rank)?,
        steps: fastest_first("step", &words.steps.unwrap_or_else(|| vec![1; rank]), rank)?,
        interleave: words.interleave,
        swizzle: words.swizzle,
        fill: words.fill,
        im2col,
    };
    map.check().map_err(|error| error.to_string()).map(|()| map)
}

/// What is said of a map.
#[derive(Default)]
struct Words {
    boxes: Option<Vec<i128>>,
    shape: Option<Vec<i128>>,
    strides: Option<Vec<i128>>,
    steps: Option<Vec<i128>>,
    interleave: Interleave,
    swizzle: Swizzle,
    fill: Fill,
    is_tf32: bool,
    flushes: bool,
    pixels: Pixels,
}

/// What is said of im2col mode.
#[derive(Default)]
struct Pixels {
    lower: Option<Vec<i128>>,
    upper: Option<Vec<i128>>,
    channels: Option<i128>,
    pixels: Option<i128>,
}

impl Words {
    fn of(text: &str, known: &dyn Fn(&str) -> Option<i128>) -> Result<Self, String> {
        let number =
            |text: &str| evaluate(text, known).map_err(|why| format!("'{text}' is no number: {why}"));
        let list = |text: &str| {
            let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let inner = inner.ok_or_else(|| format!("'{text}' is no list such as [64,64]"))?;
            split(inner).into_iter().map(|part| number(part.trim())).collect::<Result<Vec<_>, _>>().map(Some)
        };
        let mut words = Self::default();
        for word in split(text).into_iter().map(str::trim) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match (name.trim(), value.trim()) {
                ("box", value) => words.boxes = list(value)?,
                ("shape", value) => words.shape = list(value)?,
                ("strides", value) => words.strides = list(value)?,
                ("step", value) => words.steps = list(value)?,
                ("lower", value) => words.pixels.lower = list(value)?,
                ("upper", value) => words.pixels.upper = list(value)?,
                ("channels", value) => words.pixels.channels = Some(number(value)?),
                ("pixels", value) => words.pixels.pixels = Some(number(value)?),
                ("swizzle", value) => words.swizzle = swizzle(value)?,
                ("interleave", value) => words.interleave = interleave(value)?,
                ("nan", "") => words.fill = Fill::Nan,
                ("tf32", "") => words.is_tf32 = true,
                ("ftz", "") => words.flushes = true,
                _ => return Err(format!("'{word}' says nothing of a tensor map; there are {WORDS}")),
            }
        }
        Ok(words)
    }
}

fn interleave(text: &str) -> Result<Interleave, String> {
    match text {
        "none" => Ok(Interleave::None),
        "16" => Ok(Interleave::Bytes16),
        "32" => Ok(Interleave::Bytes32),
        _ => Err(format!("'{text}' is no interleaved layout; there are none, 16 and 32 bytes")),
    }
}

fn swizzle(text: &str) -> Result<Swizzle, String> {
    match text {
        "none" => Ok(Swizzle::None),
        "32" => Ok(Swizzle::Bytes32),
        "64" => Ok(Swizzle::Bytes64),
        "128" => Ok(Swizzle::Bytes128),
        _ => Err(format!("'{text}' is no swizzle; there are none, 32, 64 and 128 bytes")),
    }
}

/// The type of a tensor over the numbers of an array.
fn element(array: &Array, is_tf32: bool, flushes: bool) -> Result<ElementType, String> {
    let number = array.element.number();
    if (is_tf32 || flushes) && number != Number::F32 {
        return Err(format!("tf32 and ftz are for f32, and not for {}", array.element));
    }
    let element = match number {
        _ if array.element.lanes() > 1 => {
            return Err(format!("elements of tensors are numbers, and not {}", array.element));
        }
        Number::F32 if is_tf32 && flushes => ElementType::Tf32Ftz,
        Number::F32 if is_tf32 => ElementType::Tf32,
        Number::F32 if flushes => ElementType::F32Ftz,
        Number::F32 => ElementType::F32,
        Number::F16 => ElementType::F16,
        Number::Bf16 => ElementType::Bf16,
        Number::F64 => ElementType::F64,
        Number::I32 => ElementType::I32,
        Number::U32 => ElementType::U32,
        Number::I64 => ElementType::I64,
        Number::U64 => ElementType::U64,
        // Copies do not look at signs.
        Number::I16 | Number::U16 => ElementType::U16,
        Number::I8 | Number::U8 | Number::Bool | Number::E4m3 | Number::E5m2 => ElementType::U8,
    };
    Ok(element)
}

fn row_major(shape: &[i128]) -> Vec<i128> {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = i128::saturating_mul(strides[dimension], shape[dimension]);
    }
    strides
}

fn im2col(words: &Pixels, rank: usize) -> Result<Option<Im2col>, String> {
    let Pixels { lower, upper, channels, pixels } = words;
    if lower.is_none() && upper.is_none() && channels.is_none() && pixels.is_none() {
        return Ok(None);
    }
    let (Some(channels), Some(pixels)) = (channels, pixels) else {
        return Err("im2col mode needs channels and pixels".into());
    };
    if !(3..=RANK).contains(&rank) {
        return Err("im2col mode is for tensors of 3 to 5 dimensions".into());
    }
    let corner = |name: &str, corner: &Option<Vec<i128>>| match corner {
        Some(corner) => fastest_first(name, corner, rank - 2),
        None => Ok([0; 3]),
    };
    Ok(Some(Im2col {
        lower: corner("lower", lower)?,
        upper: corner("upper", upper)?,
        channels: fits("channels", *channels)?,
        pixels: fits("pixels", *pixels)?,
    }))
}

/// A list of `length` numbers, the other way round, and zeros behind.
fn fastest_first<T: TryFrom<i128> + Default + Copy, const N: usize>(
    name: &str,
    list: &[i128],
    length: usize,
) -> Result<[T; N], String> {
    if list.len() != length {
        return Err(format!("{name} has {} numbers, and the tensor needs {length}", list.len()));
    }
    let mut all = [T::default(); N];
    for (to, from) in all.iter_mut().zip(list.iter().rev()) {
        *to = fits(name, *from)?;
    }
    Ok(all)
}

fn fits<T: TryFrom<i128>>(name: &str, value: i128) -> Result<T, String> {
    T::try_from(value).map_err(|_| format!("{name} has {value}, which is out of range"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn map(words: &str, array: &str) -> Result<TensorMap, String> {
        let array = Array::parse("x", array).unwrap().unwrap();
        over(words, &array, &|name| (name == "K").then_some(256))
    }

    #[test]
    fn a_map_has_the_fastest_extent_first() {
        let map = map("box=[32,64],swizzle=128", "bf16[100,K]".replace('K', "256").as_str()).unwrap();
        assert_eq!((map.rank, map.element, map.swizzle), (2, ElementType::Bf16, Swizzle::Bytes128));
        assert_eq!(
            (&map.extents[..2], map.strides[0], &map.boxes[..2]),
            (&[256, 100][..], 512, &[64, 32][..])
        );
    }

    #[test]
    fn another_shape_over_the_same_elements() {
        let map = map("shape=[K/64,8,64],strides=[64,K,1],box=[1,8,64],step=[1,2,1]", "f16[8,256]").unwrap();
        assert_eq!(map.extents, [64, 8, 4, 0, 0]);
        assert_eq!(map.strides, [512, 128, 0, 0]);
        assert_eq!(map.steps, [1, 2, 1, 0, 0]);
    }

    #[test]
    fn images() {
        let map = map("lower=[-1,-2],upper=[-3,-4],channels=8,pixels=16", "f16[2,9,7,8]").unwrap();
        let expected = Im2col { lower: [-2, -1, 0], upper: [-4, -3, 0], channels: 8, pixels: 16 };
        assert_eq!(map.im2col, Some(expected));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (words, array, said) in [
            ("", "f32[8,8]", "says nothing of a tensor map"),
            ("swizzle=128", "f32[8,8]", "its box is missing"),
            ("box=[8]", "f32[8,8]", "box has 1 numbers, and the tensor needs 2"),
            ("box=8", "f32[8,8]", "is no list such as"),
            ("box=[8,q]", "f32[8,8]", "'q' is no number"),
            ("box=[8,8],swizzle=16", "f32[8,8]", "there are none, 32, 64 and 128"),
            ("box=[8,8],interleave=64", "f32[8,8]", "there are none, 16 and 32"),
            ("box=[8,8],interleave=16", "f32[8,8]", "3 to 5 in im2col mode or with an interleaved layout"),
            ("box=[8,64],swizzle=128", "f32[8,64]", "not be more than the bytes of the swizzle"),
            ("box=[8,300]", "f32[8,512]", "it must be 1 to 256"),
            ("box=[8,-1]", "f32[8,512]", "out of range"),
            ("box=[8,8],shape=[9,8]", "f32[8,8]", "the tensor has 72 elements"),
            ("box=[8,8],strides=[8,2]", "f32[8,8]", "the last is 1"),
            ("box=[8,8],tf32", "f16[8,8]", "are for f32"),
            ("box=[8,8]", "float4[8,8]", "and not float4"),
            ("box=[8,8],nan", "i32[8,8]", "only floating-point types"),
            ("box=[8,8]", "i32[8,7]", "must be a multiple of 16 bytes"),
            ("channels=8", "f16[2,9,7,8]", "needs channels and pixels"),
            ("channels=8,pixels=8", "f16[8,8]", "3 to 5 dimensions"),
            ("box=[1]", "f16[1,1,1,1,1,1]", "1 to 5 dimensions"),
        ] {
            let error = map(words, array).unwrap_err();
            assert!(error.contains(said), "{words}: {error}");
        }
    }
}
