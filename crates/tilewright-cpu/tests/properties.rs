//! A thousand random problems for every built-in semiring and element type.

use crate::common::{case, check, config};
use proptest::prelude::*;
use tilewright_core::*;

macro_rules! properties {
    ($($name:ident: $semiring:ty;)*) => {
        proptest! {
            #![proptest_config(config())]
            $(#[test]
            fn $name(case in case()) {
                check::<$semiring>(&case);
            })*
        }

        /// No built-in semiring is forgotten above.
        #[test]
        fn all_are_listed() {
            let listed = [$(<$semiring>::BUILT_IN.map(|s| (s.id(), s.dtype(), s.output()))),*];
            for (&id, &dtype) in SemiringId::ALL.iter().flat_map(|id| id.dtypes().iter().map(move |dtype| (id, dtype))) {
                for &output in DType::ALL.iter().filter(|&&output| id.gives(dtype, output)) {
                    assert!(listed.contains(&Some((id, dtype, output))), "{id} on {dtype} giving {output}");
                }
            }
        }
    };
}

properties! {
    plus_times_f16: PlusTimes<f16>;
    plus_times_bf16: PlusTimes<bf16>;
    plus_times_f16_giving_f32: PlusTimes<f16, f32>;
    plus_times_bf16_giving_f32: PlusTimes<bf16, f32>;
    plus_times_e4m3: PlusTimes<E4m3>;
    plus_times_e4m3_giving_f16: PlusTimes<E4m3, f16>;
    plus_times_e4m3_giving_bf16: PlusTimes<E4m3, bf16>;
    plus_times_e5m2: PlusTimes<E5m2>;
    plus_times_e5m2_giving_f16: PlusTimes<E5m2, f16>;
    plus_times_e5m2_giving_bf16: PlusTimes<E5m2, bf16>;
    plus_times_f32: PlusTimes<f32>;
    plus_times_f64: PlusTimes<f64>;
    plus_times_i8: PlusTimes<i8>;
    plus_times_i16: PlusTimes<i16>;
    plus_times_i32: PlusTimes<i32>;
    plus_times_i64: PlusTimes<i64>;
    plus_times_u8: PlusTimes<u8>;
    min_plus_f16: MinPlus<f16>;
    min_plus_bf16: MinPlus<bf16>;
    min_plus_f32: MinPlus<f32>;
    min_plus_f64: MinPlus<f64>;
    min_plus_i16: MinPlus<i16>;
    min_plus_i32: MinPlus<i32>;
    min_plus_i64: MinPlus<i64>;
    max_plus_f16: MaxPlus<f16>;
    max_plus_bf16: MaxPlus<bf16>;
    max_plus_f32: MaxPlus<f32>;
    max_plus_f64: MaxPlus<f64>;
    max_plus_i16: MaxPlus<i16>;
    max_plus_i32: MaxPlus<i32>;
    max_plus_i64: MaxPlus<i64>;
    max_times_f32: MaxTimes<f32>;
    max_times_f64: MaxTimes<f64>;
    min_times_f32: MinTimes<f32>;
    min_times_f64: MinTimes<f64>;
    max_min_f32: MaxMin<f32>;
    max_min_f64: MaxMin<f64>;
    max_min_i32: MaxMin<i32>;
    max_min_u8: MaxMin<u8>;
    min_max_f32: MinMax<f32>;
    min_max_f64: MinMax<f64>;
    min_max_i32: MinMax<i32>;
    min_max_u8: MinMax<u8>;
    or_and: OrAnd;
    log_plus_f32: LogPlus<f32>;
    log_plus_f64: LogPlus<f64>;
}
