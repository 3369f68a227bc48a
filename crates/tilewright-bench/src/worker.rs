//! One process per thread count: some libraries read theirs once, from the environment.
//!
//! The parent asks for one row after another, alternating between its workers, so that rows of different
//! thread counts are measured close together too.

use crate::{
    Result,
    case::{Case, Group},
    libraries::measure_case,
    numpy::NumPy,
    rounds::Effort,
    statistics::Summary,
};
use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// The argument that makes the benchmark a worker.
pub const ARGUMENT: &str = "--worker";

/// A process that measures rows with a fixed number of threads.
pub struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Its number of threads.
    pub threads: usize,
    /// Its NumPy; `none` without one.
    pub numpy: String,
}

impl Worker {
    /// Starts this program again with `threads` threads.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(threads: usize, quick: bool) -> Result<Self> {
        let count = threads.to_string();
        let mut child = Command::new(env::current_exe()?)
            .args([ARGUMENT, &count, if quick { "quick" } else { "full" }])
            .env("MATMUL_NUM_THREADS", &count)
            .env("RAYON_NUM_THREADS", &count)
            // MKL's threads wait actively for 200 ms unless told otherwise: longer than the rest between turns.
            .env("KMP_BLOCKTIME", "20")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take().ok_or("no pipe to the worker")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from the worker")?);
        let mut worker = Self { child, requests, answers, threads, numpy: String::new() };
        worker.numpy = worker.line()?;
        Ok(worker)
    }

    /// Measures the case.
    ///
    /// # Errors
    /// When a library fails, or computes a wrong result.
    pub fn measure(&mut self, case: &Case) -> Result<Vec<(String, Summary)>> {
        let group = Group::ALL.iter().position(|g| *g == case.group).ok_or("unknown group")?;
        let index = Case::all(case.group).position(|c| c == *case).ok_or("unknown case")?;
        writeln!(self.requests, "{group} {index}")?;
        let line = self.line()?;
        if let Some(problem) = line.strip_prefix('!') {
            return Err(problem.into());
        }
        line.split('\t').map(decode).collect()
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err("the worker ended".into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // An empty line ends the worker, which then ends its NumPy; a failure means that it is gone.
        let _ = writeln!(self.requests);
        let _ = self.child.wait();
    }
}

/// What a worker does: reads requests, writes answers.
///
/// # Errors
/// When the parent is gone.
pub fn serve(threads: usize, effort: Effort) -> Result<()> {
    let effort = effort.with_threads(threads);
    let mut numpy = NumPy::start(threads);
    println!("{}", numpy.as_ref().map_or("none", |n| &n.version));
    for line in io::stdin().lines() {
        let line = line?;
        let Some((group, index)) = line.split_once(' ') else { break };
        let group = *Group::ALL.get(group.parse::<usize>()?).ok_or("unknown group")?;
        let case = Case::all(group).nth(index.parse()?).ok_or("unknown case")?;
        match measure_case(&case, threads, effort, numpy.as_mut()) {
            Ok(times) => println!("{}", times.iter().map(encode).collect::<Vec<_>>().join("\t")),
            Err(problem) => println!("!{problem}"),
        }
    }
    Ok(())
}

fn encode((name, s): &(String, Summary)) -> String {
    format!("{name}|{:e}|{:e}|{:e}|{}", s.q1, s.median, s.q3, s.rounds)
}

fn decode(text: &str) -> Result<(String, Summary)> {
    let [name, q1, median, q3, rounds] = text.split('|').collect::<Vec<_>>()[..] else {
        return Err(format!("unexpected answer: {text}").into());
    };
    let summary =
        Summary { q1: q1.parse()?, median: median.parse()?, q3: q3.parse()?, rounds: rounds.parse()? };
    Ok((name.to_owned(), summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_the_pipe() {
        let sent = ("gemm".to_owned(), Summary { q1: 1e-9, median: 0.25, q3: 3.0, rounds: 7 });
        assert_eq!(decode(&encode(&sent)).unwrap(), sent);
        assert!(decode("gemm|1").is_err());
    }
}
