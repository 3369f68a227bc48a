//! A semiring of one's own, in Rust and as a text, on the fastest backend that is there.

use tilewright::{
    Backend, ExpressionProduct, Laws, Matrix, Options, Product, Semiring, expressions::Expressions,
    semiring::Cuda,
};

/// The most reliable way: probabilities multiply, and the best one counts.
#[derive(Clone, Copy)]
struct Reliable;

impl Semiring for Reliable {
    type Elem = f32;
    type Acc = f32;
    type Out = f32;
    const NAME: &'static str = "reliable";
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    /// The same for kernels, which are compared with the functions below before their first product.
    const CUDA: Option<Cuda<Self>> = Some(Cuda::new("fmaxf(x, y)", "x * y"));

    fn add(x: f32, y: f32) -> f32 {
        x.max(y)
    }
    fn mul_add(acc: f32, a: f32, b: f32) -> f32 {
        acc.max(a * b)
    }
    fn finish(acc: f32) -> f32 {
        acc
    }
    fn resume(out: f32) -> f32 {
        out
    }
    fn admits(x: f32) -> bool {
        x >= 0.0
    }
    fn laws() -> Laws {
        Laws::SELECTIVE
    }
}

fn main() -> Result<(), tilewright::Error> {
    let links = Matrix::from_fn(200, 200, |i, j| 1.0 / (1 + (i * 7 + j * 3) % 11) as f32)?;
    let here = Product::<Reliable>::new(&links, &links)?.backend(Backend::Cpu).compute()?;

    // A text is computed on all of them without Rust's compiler.
    let text: Expressions = "add=fmaxf(x,y); mul=x*y; zero=0; one=1; where=x>=0".parse()?;
    let mut c = Matrix::filled(200, 200, 0.0)?;
    let product = ExpressionProduct::new(&text, &links, &links)?;
    product.write_to(c.as_mut().into(), &Options::default())?;
    assert_eq!(c, here);

    // A GPU that is here, and a compiler for it, or what is missing.
    match Product::<Reliable>::new(&links, &links)?.backend(Backend::Cuda).compute() {
        Ok(there) => assert_eq!(there, here),
        Err(error) if error.is_unavailable() => println!("{error}: {}", error.hint().unwrap_or_default()),
        Err(error) => return Err(error),
    }
    Ok(())
}
