//! What was measured to be the fastest way of a product, on disk.
//!
//! A tuning is kept as compiled kernels are: in a directory that is this user's own, whole or not at all. Its key is all that the times depend
//! on: GPU, driver, the code of the kernels, semiring, type, arithmetic, sizes, strides, alignments and batch. Another driver, or another version of a
//! kernel, does not find it.

use crate::device::DeviceInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, path::PathBuf};
use tilewright_core::{Error, Math};
use tilewright_kernels::{Form, Kernel, Request, Way, find, kernels_with_ways};
use tilewright_toolchain::{CacheInfo, CacheKey, CubinCache, DriverVersion, directory_of_user};

/// 10,000 tunings or so.
const CAPACITY: u64 = 4 << 20;
const EXTENSION: &str = "tuning";
/// What the text of an entry begins with; a change of the format changes it.
const FORMAT: &str = "tilewright-tuning-2";

/// Counts changes of tunings by this process.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Another number after this process has stored or removed tunings. What other processes do is not seen.
pub(crate) fn tunings_generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// The fastest way of a product, as measured.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tuning {
    /// What it is for, in words: GPU, driver, semiring and type, sizes, orders.
    pub product: String,
    /// How to compute it.
    pub way: Way,
    /// Seconds of one product that way.
    pub seconds: f64,
    /// Seconds in the way that the cost model chooses.
    pub model_seconds: f64,
}

/// The tunings of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunings(CubinCache);

impl Tunings {
    /// Those of this user, beside the cache of compiled kernels; `None` where that is disabled or has no place.
    pub fn of_user() -> Option<Self> {
        Some(Self::new(directory_of_user()?.join("tunings")))
    }

    /// Those in `directory`, which belongs to them alone.
    pub fn new(directory: PathBuf) -> Self {
        Self(CubinCache::of_kind(directory, CAPACITY, EXTENSION))
    }

    /// The way that was measured to be the fastest for a request on this device.
    pub fn find(&self, request: &Request, device: &DeviceInfo, driver: DriverVersion) -> Option<Way> {
        let product = describe(request, device, driver).ok()?;
        let entry = self.0.load(CacheKey::of_text(&product))?;
        let tuning = parse(&entry).filter(|tuning| tuning.product == product)?;
        tuning.way.recipe(*request).is_ok().then_some(tuning.way)
    }

    /// Keeps the fastest way for a request.
    ///
    /// # Errors
    /// `unsupported` where no kernel has ways to compute the product; `io` where the directory cannot be made or written, or is not private.
    pub fn store(
        &self,
        (request, device, driver): (&Request, &DeviceInfo, DriverVersion),
        way: Way,
        [seconds, model_seconds]: [f64; 2],
    ) -> Result<Tuning, Error> {
        let product = describe(request, device, driver)?;
        let tuning = Tuning { product, way, seconds, model_seconds };
        self.0
            .store(CacheKey::of_text(&tuning.product), text(&tuning).as_bytes())
            .map_err(|source| tilewright_core::ErrorKind::Io { path: self.info().directory, source })?;
        GENERATION.fetch_add(1, Ordering::Release);
        Ok(tuning)
    }

    /// All of them, in the order of their words. Damaged ones are left out.
    pub fn list(&self) -> Vec<Tuning> {
        let mut all: Vec<_> = self.0.all().iter().filter_map(|entry| parse(entry)).collect();
        all.sort_by(|x, y| x.product.cmp(&y.product));
        all
    }

    /// Where they are and how many there are.
    pub fn info(&self) -> CacheInfo {
        self.0.info()
    }

    /// Removes all of them, and says what was removed.
    ///
    /// # Errors
    /// The first file that cannot be removed; a directory that is not this user's own, of which nothing is removed.
    pub fn clear(&self) -> io::Result<CacheInfo> {
        let cleared = self.0.clear();
        GENERATION.fetch_add(1, Ordering::Release);
        cleared
    }
}

/// All that the times of a product depend on, in words. What becomes of C does not count: its tile and its parts are the same.
fn describe(request: &Request, device: &DeviceInfo, driver: DriverVersion) -> Result<String, Error> {
    let free = Request { tile: None, pack: None, splits: None, ..*request };
    let codes: Vec<_> =
        kernels_with_ways(&free).map(|kernel| code(kernel, &free)).collect::<Result<_, _>>()?;
    if codes.is_empty() {
        find("simt")?.recipe(&free)?;
    }
    let (p, batch, at) = (&request.problem, request.batch, request.alignment);
    let lies = |l: tilewright_core::Layout| format!("{}:{}", l.row_stride, l.col_stride);
    let sizes = format!("{} x {} x {}", p.m(), p.n(), p.k());
    let batch = match batch.count {
        1 => String::new(),
        count => format!(", {count} products {}:{}:{} apart", batch.a, batch.b, batch.c),
    };
    let strides = [p.a(), p.b(), p.c()].map(lies).join(" ");
    let (a, b, c) = (at.a.min(16), at.b.min(16), at.c.min(16));
    let math = if request.math == Math::Full { String::new() } else { format!(" as {}", request.math) };
    Ok(format!(
        "{} on {}{math}, {sizes}{batch}, strides {strides}, aligned to {a} {b} {c}, workspace {}, {} ({}, {} SMs), CUDA {driver}, {}",
        request.semiring,
        request.dtype,
        request.workspace,
        device.name,
        device.capability,
        device.multiprocessors,
        codes.join(", "),
    ))
}

/// A kernel, and what tells its versions apart: its code for the product, the plain one if there is one, which no cost model chooses.
fn code(kernel: &'static Kernel, request: &Request) -> Result<String, Error> {
    let plain = Request { form: Form::Plain, ..*request };
    let recipe = kernel.recipe(&plain).or_else(|_| kernel.recipe(request))?;
    let key = recipe.launches().first().map_or(0, |launch| launch.program().key());
    Ok(format!("{} {key:016x}", kernel.name))
}

fn text(tuning: &Tuning) -> String {
    let Tuning { product, way: Way { kernel, tile, pack, splits }, seconds, model_seconds } = tuning;
    let tile = tile.map(|x| x.to_string()).join("x");
    let pack = pack.map(|packed| if packed { "1" } else { "0" }).concat();
    let splits = splits.map_or("-".to_owned(), |parts| parts.to_string());
    format!("{FORMAT}\n{product}\n{kernel} {tile} {pack} {splits} {seconds:e} {model_seconds:e}\n")
}

fn parse(entry: &[u8]) -> Option<Tuning> {
    let text = std::str::from_utf8(entry).ok()?;
    let [format, product, numbers] = text.lines().collect::<Vec<_>>().try_into().ok()?;
    let [kernel, tile, pack, splits, seconds, model] =
        numbers.split(' ').collect::<Vec<_>>().try_into().ok()?;
    if format != FORMAT {
        return None;
    }
    let kernel = find(kernel).ok()?.name;
    let tile = tile.split('x').map(|x| x.parse().ok()).collect::<Option<Vec<u32>>>()?.try_into().ok()?;
    let pack = match pack {
        "00" => [false, false],
        "10" => [true, false],
        "01" => [false, true],
        "11" => [true, true],
        _ => return None,
    };
    let splits = if splits == "-" { None } else { Some(splits.parse().ok().filter(|&parts| parts > 0)?) };
    let time = |text: &str| text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0);
    let (seconds, model_seconds) = (time(seconds)?, time(model)?);
    Some(Tuning {
        product: product.to_owned(),
        way: Way { kernel, tile, pack, splits },
        seconds,
        model_seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Layout, Problem, SemiringId};

    fn device(name: &str) -> DeviceInfo {
        DeviceInfo { name: name.into(), ..crate::device::fake_info() }
    }

    fn request(n: usize) -> Request {
        let l = Layout::row_major(n, n);
        Request::new(Problem::new(l, l, l).expect("fits"), SemiringId::MinPlus, DType::F32)
    }

    const CUDA: DriverVersion = DriverVersion::new(13, 0);

    #[test]
    fn what_was_measured_is_found_for_the_same_product_device_and_driver_alone() {
        let home = tempfile::tempdir().expect("a directory");
        let tunings = Tunings::new(home.path().join("tunings"));
        let (asked, h200) = (request(1000), device("NVIDIA H200"));
        assert_eq!((tunings.find(&asked, &h200, CUDA), tunings.list()), (None, Vec::new()));
        let way = Way { kernel: "simt", tile: [64, 128, 32, 8, 8, 1], pack: [true, false], splits: Some(3) };
        let kept = tunings.store((&asked, &h200, CUDA), way, [1e-4, 1.2e-4]).expect("stored");
        assert_eq!(tunings.find(&asked, &h200, CUDA), Some(way));
        assert_eq!(tunings.list(), [kept]);
        // What becomes of C does not matter.
        let joined = Request { joining: tilewright_core::Joining::Accumulate, ..asked };
        assert_eq!(tunings.find(&joined, &h200, CUDA), Some(way));
        assert_eq!(tunings.find(&request(1001), &h200, CUDA), None);
        assert_eq!(tunings.find(&asked, &device("NVIDIA A100"), CUDA), None);
        assert_eq!(tunings.find(&asked, &h200, DriverVersion::new(12, 8)), None);
        assert_eq!(tunings.clear().expect("cleared").entries, 1);
        assert_eq!(tunings.find(&asked, &h200, CUDA), None);
    }

    #[test]
    fn damaged_tunings_and_tiles_that_are_gone_are_not_there() {
        let home = tempfile::tempdir().expect("a directory");
        let tunings = Tunings::new(home.path().join("tunings"));
        let (asked, h200) = (request(500), device("NVIDIA H200"));
        let gone = Way { kernel: "simt", tile: [1, 2, 3, 4, 5, 6], pack: [false; 2], splits: None };
        tunings.store((&asked, &h200, CUDA), gone, [1.0, 1.0]).expect("stored");
        assert_eq!(tunings.find(&asked, &h200, CUDA), None);
        let file = std::fs::read_dir(home.path().join("tunings")).expect("there").next().expect("one");
        let path = file.expect("readable").path();
        let mut bytes = std::fs::read(&path).expect("readable");
        *bytes.last_mut().expect("some") ^= 1;
        std::fs::write(&path, bytes).expect("writable");
        assert_eq!((tunings.find(&asked, &h200, CUDA), tunings.list().len()), (None, 0));
    }

    #[test]
    fn texts_are_read_as_they_were_written_and_nothing_else_is() {
        let way = Way { kernel: "simt", tile: [64, 64, 32, 8, 8, 2], pack: [true, true], splits: None };
        let tuning = Tuning { product: "a product".into(), way, seconds: 2.5e-5, model_seconds: 3e-5 };
        let written = text(&tuning);
        assert_eq!(parse(written.as_bytes()), Some(tuning));
        for (from, to) in [
            ("11", "12"),
            (FORMAT, "x"),
            ("2.5e-5", "-1"),
            ("64x64", "64"),
            ("simt", "gone"),
            (" - ", " 0 "),
            ("product\n", ""),
        ] {
            let damaged = written.replacen(from, to, 1);
            assert_ne!(damaged, written);
            assert_eq!(parse(damaged.as_bytes()), None, "{damaged}");
        }
    }
}
