//! Seconds of one product by tropical-gemm-cuda, between matrices on the device: `rival SEMIRING TYPE M N K`. See `compare`.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use std::time::{Duration, Instant};
use tropical_gemm::types::{TropicalMaxMul, TropicalMaxPlus, TropicalMinPlus};
use tropical_gemm_cuda::{CudaContext, CudaKernel, GpuMatrix};

type Failure = Box<dyn std::error::Error>;

/// How long a train of products lasts, and how long the GPU is warmed up.
const TRAIN: Duration = Duration::from_millis(100);
const WARM_UP: Duration = Duration::from_millis(200);
/// More bytes than twice any second-level cache.
const CACHES: usize = 260 << 20;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [semiring, dtype, m, n, k] = &args[..] else { return Err("rival SEMIRING TYPE M N K".into()) };
    let size = [m.parse()?, n.parse()?, k.parse()?];
    let float = |x: u32| (x >> 8) as f32 / (1 << 24) as f32;
    let seconds = match (semiring.as_str(), dtype.as_str()) {
        ("min-plus", "f32") => time::<TropicalMinPlus<f32>>(size, |x| 2.0 * float(x) - 1.0),
        ("max-plus", "f32") => time::<TropicalMaxPlus<f32>>(size, |x| 2.0 * float(x) - 1.0),
        ("max-times", "f32") => time::<TropicalMaxMul<f32>>(size, float),
        ("min-plus", "f64") => time::<TropicalMinPlus<f64>>(size, |x| f64::from(2.0 * float(x) - 1.0)),
        ("max-plus", "f64") => time::<TropicalMaxPlus<f64>>(size, |x| f64::from(2.0 * float(x) - 1.0)),
        ("max-times", "f64") => time::<TropicalMaxMul<f64>>(size, |x| f64::from(float(x))),
        ("min-plus", "i32") => time::<TropicalMinPlus<i32>>(size, |x| (x % 2001) as i32 - 1000),
        ("max-plus", "i32") => time::<TropicalMaxPlus<i32>>(size, |x| (x % 2001) as i32 - 1000),
        _ => return Err(format!("{semiring} on {dtype} is not compared").into()),
    }?;
    println!("{seconds:e}");
    Ok(())
}

fn time<S: CudaKernel>([m, n, k]: [usize; 3], number: impl Fn(u32) -> S::Scalar) -> Result<f64, Failure>
where
    S::Scalar: DeviceRepr + ValidAsZeroBits + Default + Clone,
{
    let context = CudaContext::new()?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut matrix = |rows: usize, cols: usize| {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            number((state >> 32) as u32)
        };
        let elements: Vec<S::Scalar> = (0..rows * cols).map(|_| next()).collect();
        GpuMatrix::from_host(&context, &elements, rows, cols)
    };
    let bytes = (m * k + k * n + m * n) * size_of::<S::Scalar>();
    let mut sets = Vec::new();
    for _ in 0..CACHES.div_ceil(bytes.max(1)).clamp(1, 64) {
        sets.push((matrix(m, k)?, matrix(k, n)?, GpuMatrix::alloc(&context, m, n)?));
    }
    let mut launched = 0;
    let mut train = |count: usize| -> Result<f64, Failure> {
        context.stream().synchronize()?;
        let began = Instant::now();
        for _ in 0..count {
            let number = launched % sets.len();
            let (a, b, c) = &mut sets[number];
            S::launch_gemm(&context, a, b, c)?;
            launched += 1;
        }
        context.stream().synchronize()?;
        Ok(began.elapsed().as_secs_f64() / count as f64)
    };
    train(1)?;
    let began = Instant::now();
    let mut each = train(1)?;
    while began.elapsed() < WARM_UP {
        each = train(10)?;
    }
    train((TRAIN.as_secs_f64() / each).ceil().max(1.0) as usize)
}
