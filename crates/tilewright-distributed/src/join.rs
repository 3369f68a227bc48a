//! The sum of two matrices over a semiring, element by element.

use tilewright::{DType, DynMut, DynRef, Error, ErrorKind, Semiring, SemiringId, for_each_pair};

macro_rules! with_types {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        /// `C = C ⊕ D`; both have the type of results over the semiring.
        pub(crate) fn join(semiring: SemiringId, c: DynMut<'_>, d: DynRef<'_>) -> Result<(), Error> {
            match (semiring, c.dtype()) {
                $($((SemiringId::$id, DType::$dtype) => of::<$semiring>(c, d),)*
                $((SemiringId::$id, DType::$other) => of::<$rest>(c, d),)*)*
                (semiring, dtype) => {
                    let what = format!("{semiring} on {dtype} on several ranks");
                    Err(ErrorKind::Unsupported { what, why: String::new(), hint: "choose f32".into() }.into())
                }
            }
        }
    };
}
for_each_pair!(with_types!());

fn of<S: Semiring>(c: DynMut<'_>, d: DynRef<'_>) -> Result<(), Error>
where
    S::Out: tilewright::Element,
{
    let (expected, found) = (<S::Out as tilewright::Element>::DTYPE, d.dtype());
    let (Some(mut c), Some(d)) = (c.typed::<S::Out>(), d.typed::<S::Out>()) else {
        return Err(ErrorKind::DTypeMismatch { what: "a part of C", expected, found }.into());
    };
    for i in 0..c.rows() {
        for j in 0..c.cols() {
            c[(i, j)] = S::finish(S::add(S::resume(c[(i, j)]), S::resume(d[(i, j)])));
        }
    }
    Ok(())
}
