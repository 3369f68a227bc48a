//! NumPy's BLAS, in a child process that takes part in the rounds.

use crate::{
    Result,
    case::{Case, Stored},
    contender::Contender,
    field::Field,
    matrices::Operands,
};
use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const SCRIPT: &str = include_str!("numpy_child.py");

/// A Python process with NumPy in it.
pub struct NumPy {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
    /// NumPy and its BLAS, with versions.
    pub version: String,
}

impl NumPy {
    /// Starts `python3`; `None` when it or NumPy is missing.
    pub fn start(threads: usize) -> Option<Self> {
        let folder = env::temp_dir().join(format!("tilewright-bench-{}", std::process::id()));
        fs::create_dir_all(&folder).ok()?;
        let mut child = Command::new("python3")
            .args(["-u", "-c", SCRIPT])
            .env("OPENBLAS_NUM_THREADS", threads.to_string())
            .env("OMP_NUM_THREADS", threads.to_string())
            // OpenBLAS's threads wait actively for 2^26 ticks unless told otherwise: longer than the rest between turns.
            .env("OPENBLAS_THREAD_TIMEOUT", "22")
            .env("MKL_NUM_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let requests = child.stdin.take()?;
        let answers = BufReader::new(child.stdout.take()?);
        let mut numpy = Self { child, requests, answers, folder, version: String::new() };
        numpy.version = numpy.answer().ok()?;
        Some(numpy)
    }

    /// Hands a case to it.
    ///
    /// # Errors
    /// When the operands cannot be handed over.
    pub fn open<T: Field>(&mut self, case: &Case, operands: &Operands<T>) -> Result<Opened<'_>> {
        let [a, b, c] = ["a", "b", "c"].map(|name| self.folder.join(name));
        fs::write(&a, bytemuck::cast_slice(operands.a.data()))?;
        fs::write(&b, bytemuck::cast_slice(operands.b.data()))?;
        let Case { m, n, k, .. } = case;
        let [ta, tb] = [case.a, case.b].map(|stored| u8::from(stored == Stored::Transposed));
        let (a, b) = (a.display(), b.display());
        self.ask(&format!("open\t{m}\t{n}\t{k}\t{}\t{ta}\t{tb}\t{a}\t{b}", T::NAME))?;
        Ok(Opened { numpy: self, result: c })
    }

    fn ask(&mut self, request: &str) -> Result<String> {
        writeln!(self.requests, "{request}")?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err("NumPy's process ended".into());
        }
        Ok(line.trim().to_owned())
    }
}

impl Drop for NumPy {
    fn drop(&mut self) {
        // Nothing is left to do about a failure here.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// NumPy with one product to compute.
pub struct Opened<'a> {
    numpy: &'a mut NumPy,
    result: PathBuf,
}

impl Contender for Opened<'_> {
    fn name(&self) -> &str {
        "OpenBLAS (NumPy)"
    }

    fn run(&mut self, repetitions: u32) -> Result<f64> {
        Ok(self.numpy.ask(&format!("run\t{repetitions}"))?.parse()?)
    }

    fn result(&mut self) -> Result<Vec<f64>> {
        self.numpy.ask(&format!("save\t{}", self.result.display()))?;
        let bytes = fs::read(&self.result)?;
        Ok(bytes.chunks_exact(size_of::<f64>()).map(bytemuck::pod_read_unaligned).collect())
    }
}
