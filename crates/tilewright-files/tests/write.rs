//! Writing files: round trips, and that nothing is ever lost.
use proptest::prelude::*;
use std::{fs, path::Path};
use tilewright_core::{DType, DynMatrix, DynRef, Error, Layout, MatRef, Matrix, Value, bf16, f16};
use tilewright_files::{
    Format, ReadOptions, Spec, WriteOptions, check_writable, read, read_bytes, write, write_to,
};

fn sample() -> DynMatrix {
    Matrix::from_fn(3, 2, |i, j| i as f64 - 0.5 * j as f64).unwrap().into()
}

fn save(path: &Path, m: DynRef<'_>) -> Result<(), Error> {
    write(&Spec::parse(path)?, m, &WriteOptions::default())
}

fn files_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_bytes_of_each_format() {
    let m = Matrix::from_vec(vec![1.0f32, -2.5, f32::INFINITY, 0.1, f32::NAN, 1e20], Layout::row_major(2, 3))
        .unwrap();
    let bytes = |name: &str| {
        let mut out = Vec::new();
        write_to(&name.parse().unwrap(), &mut out, m.as_ref().into(), &WriteOptions::default()).unwrap();
        out
    };
    assert_eq!(bytes("a.csv"), b"1.0,-2.5,inf\n0.1,NaN,1e20\n");
    assert_eq!(
        String::from_utf8(bytes("a.mtx")).unwrap(),
        "%%MatrixMarket matrix array real general\n2 3\n1.0\n0.1\n-2.5\nNaN\ninf\n1e20\n"
    );
    let npy = bytes("a.npy");
    assert_eq!(&npy[..10], b"\x93NUMPY\x01\0\x76\0");
    assert!(npy[10..128].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  "));
    assert_eq!((npy[127], npy.len()), (b'\n', 128 + 24));
    let st = bytes("a.safetensors:layer \"1\"\n");
    let header = st[8..].split(|&b| b == b' ').next().unwrap();
    assert!(header.starts_with(b"{\"layer"));
    assert_eq!((u64::from_le_bytes(*st.first_chunk().unwrap()) + 8) % 64, 0);
    let back = read_bytes(&"a.safetensors:layer \"1\"\n".parse().unwrap(), &st, &ReadOptions::default());
    assert_eq!(back.unwrap().layout().cols, 3);

    let adjacency = Matrix::from_fn(2, 2, |i, j| i < j).unwrap();
    let mut out = Vec::new();
    write_to(&"a.mtx".parse().unwrap(), &mut out, adjacency.as_ref().into(), &WriteOptions::default())
        .unwrap();
    assert_eq!(out, b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
}

#[test]
fn what_a_format_cannot_hold_is_refused_before_and_while_writing() {
    let directory = tempfile::tempdir().unwrap();
    let spec = |name: &str| Spec::parse(directory.path().join(name)).unwrap();
    let half = Matrix::filled(1, 1, bf16::ONE).unwrap();
    for (name, problem, hint) in
        [("a.npz", "NumPy has no bf16", ".safetensors"), ("a.npy", "NumPy has no bf16", ".safetensors")]
    {
        for error in [
            check_writable(&spec(name), DType::Bf16).unwrap_err(),
            write(&spec(name), half.as_ref().into(), &WriteOptions::default()).unwrap_err(),
        ] {
            assert!(error.to_string().contains(problem), "{error}");
            assert!(error.hint().unwrap().contains(hint));
        }
    }
    let empty = Matrix::filled(0, 3, 0i32).unwrap();
    let error = save(&directory.path().join("a.csv"), empty.as_ref().into()).unwrap_err();
    assert!(error.to_string().contains("a 0x3 matrix has no rows or columns"), "{error}");
    assert_eq!(check_writable(&spec("no/such/a.npy"), DType::F32).unwrap_err().code(), "io");
    fs::create_dir(directory.path().join("d.npy")).unwrap();
    assert_eq!(check_writable(&spec("d.npy"), DType::F32).unwrap_err().code(), "io");
    check_writable(&spec("b.npy"), DType::F32).unwrap();
    assert_eq!(files_in(directory.path()), ["d.npy"]);
}

#[test]
fn a_file_is_replaced_and_an_input_that_maps_it_stays_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npy");
    let large = Matrix::from_fn(400, 400, |i, j| (i * 400 + j) as f64).unwrap();
    save(&path, large.as_ref().into()).unwrap();
    let input = read(&Spec::parse(&path).unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(input.is_mapped(), cfg!(target_endian = "little"));
    if cfg!(windows) && input.is_mapped() {
        return; // A mapped file cannot be replaced there.
    }
    save(&path, sample().as_ref()).unwrap();
    assert_eq!(input.as_ref().typed::<f64>(), Some(large.as_ref()));
    let back = read(&Spec::parse(&path).unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(back.as_ref().get(2, 1), Some(Value::Float(1.5)));
    assert_eq!(files_in(directory.path()), ["a.npy"]);
}

/// A file of two tensors, one of three dimensions and of no type of ours, with metadata.
fn foreign_file() -> Vec<u8> {
    let header = r#"{"__metadata__":{"made \"by\"":"hand\n"},"odd":{"dtype":"U8","shape":[1,3,1],"data_offsets":[0,3]},"w":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[3,5]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend([1, 2, 3, 4, 5]);
    bytes
}

#[test]
fn a_tensor_joins_a_file_and_leaves_the_rest_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.safetensors");
    fs::write(&path, foreign_file()).unwrap();
    let spec = |name: &str| Spec::new(&path, Format::Safetensors, Some(name.into()));
    let put = |name: &str, m: DynRef<'_>| write(&spec(name), m, &WriteOptions::default()).unwrap();
    put("c", sample().as_ref());
    put("h", Matrix::filled(3, 1, f16::ONE).unwrap().as_ref().into());
    put("c", sample().as_ref().t());

    let bytes = fs::read(&path).unwrap();
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    assert_eq!((metadata.len(), metadata["made \"by\""].as_str()), (1, "hand\n"));
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), 4);
    let (odd, w) = (file.tensor("odd").unwrap(), file.tensor("w").unwrap());
    assert_eq!((odd.shape(), odd.data()), (&[1, 3, 1][..], &[1, 2, 3][..]));
    assert_eq!((w.dtype().to_string(), w.data()), ("F8_E4M3".into(), &[4, 5][..]));
    // Every tensor begins at a multiple of its elements' size, so that a reader can map it.
    for (name, tensor) in file.tensors() {
        let offset = tensor.data().as_ptr().addr() - bytes.as_ptr().addr();
        assert_eq!(offset % (tensor.dtype().bitsize() / 8), 0, "{name}");
    }
    let back = read(&spec("c"), &ReadOptions::default()).unwrap();
    assert_eq!((back.layout().rows, back.as_ref().get(1, 2)), (2, Some(Value::Float(1.5))));
    // Without a name the matrix replaces the file.
    save(&path, sample().as_ref()).unwrap();
    assert_eq!(safetensors::SafeTensors::deserialize(&fs::read(&path).unwrap()).unwrap().len(), 1);
    assert_eq!(files_in(directory.path()), ["m.safetensors"]);
}

#[test]
fn a_large_file_that_is_mapped_keeps_its_tensors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.safetensors");
    let spec = |name: &str| Spec::new(&path, Format::Safetensors, Some(name.into()));
    let large = Matrix::from_fn(400, 400, |i, j| (i * 400 + j) as f64).unwrap();
    write(&spec("large"), large.as_ref().into(), &WriteOptions::default()).unwrap();
    let input = read(&spec("large"), &ReadOptions::default()).unwrap();
    if cfg!(windows) && input.is_mapped() {
        return; // A mapped file cannot be replaced there.
    }
    // The matrix that is written lies in the file that it joins.
    write(&spec("again"), input.as_ref().t(), &WriteOptions::default()).unwrap();
    for (name, wanted) in [("large", large.as_ref()), ("again", large.as_ref().t())] {
        let back = read(&spec(name), &ReadOptions::default()).unwrap();
        assert_eq!(back.as_ref().typed::<f64>(), Some(wanted), "{name}");
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::{
        os::unix::fs::{PermissionsExt, symlink},
        process::Command,
    };

    #[test]
    fn permissions_and_links_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a.npy"), directory.path().join("link.npy"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a.npy", &link).unwrap();
        save(&link, sample().as_ref()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::read(&file).unwrap().starts_with(b"\x93NUMPY"));

        // A link to nothing creates what it points to, as a plain file with the usual permissions.
        let dangling = directory.path().join("dangling.npy");
        symlink("new.npy", &dangling).unwrap();
        save(&dangling, sample().as_ref()).unwrap();
        let plain = directory.path().join("plain");
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&directory.path().join("new.npy")), mode(&plain));
        assert_eq!(files_in(directory.path()), ["a.npy", "dangling.npy", "link.npy", "new.npy", "plain"]);

        symlink("loop.npy", directory.path().join("loop.npy")).unwrap();
        assert_eq!(save(&directory.path().join("loop.npy"), sample().as_ref()).unwrap_err().code(), "io");
    }

    #[test]
    fn devices_and_pipes_are_written_directly() {
        let csv = |path: &str| Spec::new(path, Format::Csv, None);
        let m = sample();
        write(&csv("/dev/null"), m.as_ref(), &WriteOptions::default()).unwrap();
        check_writable(&csv("/dev/null"), DType::F32).unwrap();
        if Path::new("/dev/full").exists() {
            let error = write(&csv("/dev/full"), m.as_ref(), &WriteOptions::default()).unwrap_err();
            assert_eq!(error.code(), "io");
        }
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe.csv");
        if Command::new("mkfifo").arg(&pipe).status().is_ok_and(|s| s.success()) {
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || read(&Spec::parse(pipe).unwrap(), &ReadOptions::default()).unwrap()
            });
            save(&pipe, m.as_ref()).unwrap();
            assert_eq!(reader.join().unwrap().as_ref().get(2, 1), Some(Value::Float(1.5)));
        }
    }

    /// Run by the test below in a process that may not write more than 32 KiB into a file.
    #[test]
    #[ignore = "only meaningful with a limit on file sizes"]
    fn write_under_a_limit() {
        let directory = std::env::var("TILEWRIGHT_TEST_DIRECTORY").unwrap();
        let m = Matrix::filled(100, 100, 1.0f64).unwrap();
        let error = save(&Path::new(&directory).join("a.npy"), m.as_ref().into()).unwrap_err();
        assert_eq!(error.code(), "io");
    }

    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a.npy"), "old").unwrap();
        let script = "trap '' XFSZ; ulimit -f 32 && exec \"$0\" --exact files_write::unix::write_under_a_limit --ignored";
        let status = Command::new("bash")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .env("TILEWRIGHT_TEST_DIRECTORY", directory.path())
            .stdout(std::process::Stdio::null())
            .status();
        let Ok(status) = status else { return eprintln!("skipped: there is no bash") };
        assert!(status.success());
        assert_eq!(fs::read(directory.path().join("a.npy")).unwrap(), b"old");
        assert_eq!(files_in(directory.path()), ["a.npy"]);
    }
}

/// A matrix and a view of it: part of a larger one, every other row or column, reversed, transposed.
#[derive(Clone, Debug)]
struct Case {
    bits: Vec<u64>,
    rows: usize,
    cols: usize,
    step: usize,
    transposed: bool,
    reversed: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    (1usize..6, 1usize..6, 1usize..3, any::<bool>(), any::<bool>()).prop_flat_map(
        |(rows, cols, step, transposed, reversed)| {
            // Small numbers, extremes and any bits.
            let bits = prop_oneof![Just(0u64), Just(1), Just(u64::MAX), any::<u64>()];
            prop::collection::vec(bits, rows * cols * step * step).prop_map(move |bits| Case {
                bits,
                rows,
                cols,
                step,
                transposed,
                reversed,
            })
        },
    )
}

impl Case {
    fn check<T: tilewright_core::Element + PartialOrd>(
        &self,
        from_bits: impl Fn(u64) -> T,
        to_bits: impl Fn(T) -> u64,
    ) where
        for<'a> DynRef<'a>: From<MatRef<'a, T>>,
    {
        let data: Vec<T> = self.bits.iter().map(|&b| from_bits(b)).collect();
        let (row_stride, col_stride) = ((self.cols * self.step * self.step) as isize, self.step as isize);
        let layout = Layout::strided(self.rows, self.cols, row_stride, col_stride);
        let mut view = MatRef::new(&data, layout).unwrap();
        view = if self.reversed { view.reverse_rows() } else { view };
        view = if self.transposed { view.t() } else { view };
        // The only element that has no order even with itself.
        let is_nan = |x: T| x.partial_cmp(&x).is_none();
        for format in [Format::Npy, Format::Safetensors, Format::Csv, Format::Mtx] {
            if (T::DTYPE, format) == (DType::Bf16, Format::Npy) {
                continue;
            }
            let spec = Spec::new("memory", format, None);
            let mut bytes = Vec::new();
            write_to(&spec, &mut bytes, view.into(), &WriteOptions::default()).unwrap();
            let options = ReadOptions { dtype: Some(T::DTYPE), ..Default::default() };
            let back = read_bytes(&spec, &bytes, &options).unwrap().into_typed::<T>().unwrap();
            assert_eq!((back.rows(), back.cols()), (view.rows(), view.cols()));
            let is_text = matches!(format, Format::Csv | Format::Mtx);
            for (a, b) in view.iter().zip(back.as_ref().iter()) {
                // Text does not tell one NaN from another.
                assert!(
                    to_bits(a) == to_bits(b) || is_text && is_nan(a) && is_nan(b),
                    "{format}: {a:?} {b:?}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]
    #[test]
    fn every_type_format_and_layout_survives_a_round_trip(case in cases()) {
        case.check(|b| f16::from_bits(b as u16), |x| x.to_bits().into());
        case.check(|b| bf16::from_bits(b as u16), |x| x.to_bits().into());
        case.check(|b| f32::from_bits(b as u32), |x| x.to_bits().into());
        case.check(f64::from_bits, f64::to_bits);
        case.check(|b| b as i8, |x| x as u64);
        case.check(|b| b as i16, |x| x as u64);
        case.check(|b| b as i32, |x| x as u64);
        case.check(|b| b as i64, |x| x as u64);
        case.check(|b| b as u8, u64::from);
        case.check(|b| b % 2 == 1, u64::from);
    }
}
