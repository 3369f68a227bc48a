//! Tilewright and other libraries in the same run: the source of `BENCHMARKS.md`.

use std::{env, fs, process::ExitCode};
use tilewright_bench::{
    Result, blas,
    case::{Case, Group},
    machine, report,
    rounds::Effort,
    worker::{self, Worker},
};

const USAGE: &str = "\
cargo bench -p tilewright-bench --bench compare -- [options]
  --group NAME[,NAME]   groups whose name starts so: plustimes-f32 plustimes-f64
                        minplus-f32 minplus-f64 minplus-i32 minplus-i32-close minplus-i16
  --sizes SIZE[,SIZE]   64 128 256 512 1024 2048 1000 1023 1025 16x4096x4096 4096x16x4096 4096x4096x16
  --threads N[,N]       thread counts, 1,2 unless said
  --quick               few rounds: a first look, not for publication
  --json FILE           writes the rows to FILE as well";

#[derive(Default)]
struct Arguments {
    groups: Vec<String>,
    sizes: Vec<String>,
    threads: Vec<String>,
    quick: bool,
    json: Option<String>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut read = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value\n{USAGE}"));
            let list = |text: String| text.split(',').map(str::to_owned).collect();
            match word.as_str() {
                "--group" => read.groups = list(value()?),
                "--sizes" => read.sizes = list(value()?),
                "--threads" => read.threads = list(value()?),
                "--json" => read.json = Some(value()?),
                "--quick" => read.quick = true,
                "--bench" => {} // Cargo adds it.
                _ => return Err(format!("unknown argument {word}\n{USAGE}").into()),
            }
        }
        Ok(read)
    }

    fn cases(&self) -> Vec<Case> {
        let any = |list: &[String], f: &dyn Fn(&str) -> bool| list.is_empty() || list.iter().any(|x| f(x));
        let groups = Group::ALL.into_iter().filter(|g| any(&self.groups, &|x| g.name().starts_with(x)));
        groups.flat_map(Case::all).filter(|c| any(&self.sizes, &|x| c.size() == x)).collect()
    }
}

fn compare(arguments: &Arguments) -> Result<()> {
    let cases = arguments.cases();
    if cases.is_empty() {
        return Err(format!("no such group or size\n{USAGE}").into());
    }
    let mut machine = machine::facts();
    let counts = match &arguments.threads[..] {
        [] => vec![1, 2],
        given => given.iter().map(|t| t.parse()).collect::<std::result::Result<Vec<usize>, _>>()?,
    };
    let mut workers: Vec<Worker> =
        counts.iter().map(|&t| Worker::start(t, arguments.quick)).collect::<Result<_>>()?;
    machine.extend(blas::facts());
    machine.extend(workers.first().map(|w| ("NumPy", w.numpy.clone())));
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    let command = format!("`cargo bench -p tilewright-bench --bench compare -- {}`", words.join(" "));
    machine.push(("command", command.replace(" -- `", "`")));

    let mut rows = Vec::new();
    for (done, case) in cases.iter().enumerate() {
        for worker in &mut workers {
            let threads = worker.threads;
            eprintln!("{}/{} {} {case}, {threads} thread(s)", done + 1, cases.len(), case.group.name());
            rows.push(report::Row { case: *case, threads, times: worker.measure(case)? });
            if let Some(path) = &arguments.json {
                fs::write(path, report::json(&machine, &rows))?;
            }
        }
    }
    print!("{}\n{}", report::facts(&machine), report::markdown(&rows));
    Ok(())
}

fn run() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [first, threads, effort] = &words[..]
        && first == worker::ARGUMENT
    {
        let effort = if effort == "quick" { Effort::QUICK } else { Effort::FULL };
        return worker::serve(threads.parse()?, effort);
    }
    compare(&Arguments::read(words.into_iter())?)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
