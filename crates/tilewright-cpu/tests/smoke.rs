use tilewright_core::*;
use tilewright_cpu::*;
struct V(Isa);
fn rnd(s: &mut u64) -> u64 {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    *s
}
impl semiring::Visit for V {
    type Output = ();
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) {
        let mut s = 12345;
        for case in 0..60 {
            let (m, n, k) = (
                (rnd(&mut s) % 40) as usize,
                (rnd(&mut s) % 100) as usize,
                if case % 7 == 0 { 700 } else { (rnd(&mut s) % 50) as usize },
            );
            let mk = |v: u64, d: &mut dyn FnMut(Value) -> Option<S::Elem>| {
                d(Value::Int((v % 50) as i64)).unwrap_or_else(|| d(Value::Int((v % 2) as i64)).unwrap())
            };
            let conv = |v: Value| -> Option<S::Elem> {
                let x = DynMatrix::from(
                    Matrix::filled(
                        1,
                        1,
                        match v {
                            Value::Int(i) => i,
                            _ => 0,
                        },
                    )
                    .unwrap(),
                )
                .as_ref()
                .convert(S::Elem::DTYPE, Extremes::Refuse)
                .ok()?;
                x.as_ref().typed::<S::Elem>()?.get(0, 0)
            };
            let mut conv = conv;
            let a = Matrix::from_fn(m, k, |_, _| mk(rnd(&mut s) >> 7, &mut conv)).unwrap();
            let b = Matrix::from_fn(k, n, |_, _| mk(rnd(&mut s) >> 7, &mut conv)).unwrap();
            let c0 = S::finish(S::ZERO);
            let mut c = Matrix::filled(m, n, c0).unwrap();
            let mut r = Matrix::filled(m, n, c0).unwrap();
            let o = Options { isa: Some(self.0), threads: 1 + case % 3, ..Default::default() };
            for u in [Update::Replace, Update::Accumulate] {
                reference::multiply::<S>(r.as_mut(), a.as_ref(), b.as_ref(), &u).unwrap();
                let rep = multiply::<S>(c.as_mut(), a.as_ref(), b.as_ref(), &u, &o).unwrap();
                assert!(c.as_ref() == r.as_ref(), "{} {} {m}x{n}x{k} {:?}", S::NAME, S::Elem::DTYPE, rep);
                if S::laws().selective_add {
                    let mut x = Matrix::filled(m, n, 0u32).unwrap();
                    let mut y = Matrix::filled(m, n, 0u32).unwrap();
                    reference::multiply_arg::<S>(r.as_mut(), y.as_mut(), a.as_ref(), b.as_ref(), &u).unwrap();
                    let rep =
                        multiply_arg::<S>(c.as_mut(), x.as_mut(), a.as_ref(), b.as_ref(), &u, &o).unwrap();
                    assert!(c.as_ref() == r.as_ref(), "{} {} {m}x{n}x{k} {:?}", S::NAME, S::Elem::DTYPE, rep);
                    assert!(
                        x.as_ref() == y.as_ref(),
                        "arg {} {} {m}x{n}x{k} {:?}",
                        S::NAME,
                        S::Elem::DTYPE,
                        rep
                    );
                }
            }
        }
    }
}
#[test]
fn smoke() {
    for &isa in Isa::ALL {
        if isa.is_supported() {
            for &id in SemiringId::ALL {
                for &d in id.dtypes() {
                    id.visit(d, V(isa)).unwrap();
                }
            }
        }
    }
}
