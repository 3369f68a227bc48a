//! The tables of pairs: which semiring is defined on which element type, and gives which results.

/// Calls a macro with the table of pairs: every built-in semiring, and every element type that it is defined on.
///
/// This is the one list of them. The macro gets what stands after its name, and then a row for each semiring:
/// `Id { paths: (DType Type) ...; products: (DType Type) ...; }`. Graphs have best paths under `paths`, all rows have products.
///
/// Left out of `paths` are sums, whose ⊕ does not select; floats of 16 bits, whose rounding depends on how a path is
/// split; and bytes, where no number is left to say that there is no edge.
///
/// ```
/// macro_rules! count {
///     ($($id:ident { paths: $(($path:ident $s:ty))*; products: $(($product:ident $t:ty))*; })*) => {
///         [$([$(stringify!($path),)* $(stringify!($product),)*].len()),*]
///     };
/// }
/// let counts: [usize; 9] = tilewright_core::for_each_pair!(count!());
/// assert_eq!(counts[0], tilewright_core::SemiringId::PlusTimes.dtypes().len());
/// ```
#[macro_export]
macro_rules! for_each_pair {
    ($callback:ident!($($first:tt)*)) => {
        $callback! {
            $($first)*
            PlusTimes {
                paths: ;
                products:
                    (F16 $crate::PlusTimes<$crate::f16>) (Bf16 $crate::PlusTimes<$crate::bf16>)
                    (F32 $crate::PlusTimes<f32>) (F64 $crate::PlusTimes<f64>)
                    (E4m3 $crate::PlusTimes<$crate::E4m3>) (E5m2 $crate::PlusTimes<$crate::E5m2>)
                    (I8 $crate::PlusTimes<i8>) (I16 $crate::PlusTimes<i16>) (I32 $crate::PlusTimes<i32>) (I64 $crate::PlusTimes<i64>)
                    (U8 $crate::PlusTimes<u8>);
            }
            MinPlus {
                paths:
                    (F32 $crate::MinPlus<f32>) (F64 $crate::MinPlus<f64>)
                    (I16 $crate::MinPlus<i16>) (I32 $crate::MinPlus<i32>) (I64 $crate::MinPlus<i64>);
                products: (F16 $crate::MinPlus<$crate::f16>) (Bf16 $crate::MinPlus<$crate::bf16>);
            }
            MaxPlus {
                paths:
                    (F32 $crate::MaxPlus<f32>) (F64 $crate::MaxPlus<f64>)
                    (I16 $crate::MaxPlus<i16>) (I32 $crate::MaxPlus<i32>) (I64 $crate::MaxPlus<i64>);
                products: (F16 $crate::MaxPlus<$crate::f16>) (Bf16 $crate::MaxPlus<$crate::bf16>);
            }
            MaxTimes {
                paths: (F32 $crate::MaxTimes<f32>) (F64 $crate::MaxTimes<f64>);
                products: ;
            }
            MinTimes {
                paths: (F32 $crate::MinTimes<f32>) (F64 $crate::MinTimes<f64>);
                products: ;
            }
            MaxMin {
                paths: (F32 $crate::MaxMin<f32>) (F64 $crate::MaxMin<f64>) (I32 $crate::MaxMin<i32>);
                products: (U8 $crate::MaxMin<u8>);
            }
            MinMax {
                paths: (F32 $crate::MinMax<f32>) (F64 $crate::MinMax<f64>) (I32 $crate::MinMax<i32>);
                products: (U8 $crate::MinMax<u8>);
            }
            OrAnd {
                paths: (Bool $crate::OrAnd);
                products: ;
            }
            LogPlus {
                paths: ;
                products: (F32 $crate::LogPlus<f32>) (F64 $crate::LogPlus<f64>);
            }
        }
    };
}

/// Calls a macro with the table of other results: pairs of [`for_each_pair!`](crate::for_each_pair) that may give results of another type than
/// their own.
///
/// The macro gets what stands after its name, and then a row for each pair: `(Id DType: (DType Type) ...)`, with the types of the results.
#[macro_export]
macro_rules! for_each_other_result {
    ($callback:ident!($($first:tt)*)) => {
        $callback! {
            $($first)*
            (PlusTimes F16: (F32 $crate::PlusTimes<$crate::f16, f32>))
            (PlusTimes Bf16: (F32 $crate::PlusTimes<$crate::bf16, f32>))
            (PlusTimes E4m3: (F16 $crate::PlusTimes<$crate::E4m3, $crate::f16>) (Bf16 $crate::PlusTimes<$crate::E4m3, $crate::bf16>))
            (PlusTimes E5m2: (F16 $crate::PlusTimes<$crate::E5m2, $crate::f16>) (Bf16 $crate::PlusTimes<$crate::E5m2, $crate::bf16>))
        }
    };
}
