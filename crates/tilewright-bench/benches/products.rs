//! The criterion suite: a few sizes of the standard comparisons, to watch changes from one commit to the next.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use std::{
    env,
    process::{self, Command},
    time::Duration,
};
use tilewright_bench::{
    case::{Case, Group},
    libraries::with_contenders,
};

const SIZES: [&str; 4] = ["64", "256", "1000", "16x4096x4096"];
const GROUPS: [Group; 4] = [Group::PlusTimesF32, Group::PlusTimesF64, Group::MinPlusF32, Group::MinPlusI32];

fn products(criterion: &mut Criterion) {
    for group in GROUPS {
        let mut bench = criterion.benchmark_group(group.name());
        bench
            .sample_size(10)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1));
        for case in Case::all(group).filter(|case| SIZES.contains(&case.size().as_str())) {
            bench.throughput(Throughput::Elements(case.terms() as u64));
            let measured = with_contenders(&case, 1, None, |contenders, _| {
                for mut contender in contenders {
                    let id = BenchmarkId::new(contender.name(), case.to_string());
                    bench.bench_function(id, |b| b.iter(|| contender.run(1).expect("a product")));
                }
                Ok(())
            });
            measured.expect("operands");
        }
        bench.finish();
    }
}

criterion_group!(benches, products);

/// Some libraries read their number of threads from the environment, before anything else runs.
const ONE_THREAD: [&str; 2] = ["MATMUL_NUM_THREADS", "RAYON_NUM_THREADS"];

fn main() {
    if env::var_os(ONE_THREAD[0]).is_some() {
        benches();
        Criterion::default().configure_from_args().final_summary();
        return;
    }
    let program = env::current_exe().expect("a path to this program");
    let done =
        Command::new(program).args(env::args_os().skip(1)).envs(ONE_THREAD.map(|name| (name, "1"))).status();
    process::exit(done.ok().and_then(|status| status.code()).unwrap_or(1));
}
