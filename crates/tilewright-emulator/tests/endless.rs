//! Launches that do not end by themselves: by their limits of steps and time, or because the host stops them. All say where they were.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tilewright_emulator::{
    BlockOrderPolicy, FindingKind, Launch, LaunchError, LaunchOptions, Machine, Program, Races, Severity,
    Watch,
};

/// Lanes of warp 1 of every block wait for a flag that nobody sets; those of warp 0 wait for them.
const ENDLESS: &str = ".version 9.0
.target sm_90
.address_size 64
.file 1 \"spin.cu\"
.visible .entry spin(.param .u64 flag)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<3>;
    .loc 1 3 5
    ld.param.u64 %rd1, [flag];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra MEET;
WAIT:
    .loc 1 5 9
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAIT;
MEET:
    .loc 1 7 5
    bar.sync 0;
    ret;
}
.visible .entry barriers()
{
    .reg .b32 %r<2>;
AGAIN:
    bar.sync 0;
    bra AGAIN;
}
.visible .entry straight()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 7;
    add.u32 %r2, %r1, 1;
    ret;
}
";

fn machine() -> (Machine, Launch) {
    let mut machine = Machine::new(Program::new(ENDLESS).unwrap());
    let flag = machine.upload(&[0u32]).unwrap();
    (machine, Launch::new([2, 3, 1], [64, 1, 1]).arg(flag))
}

fn limited(steps: u64, order: BlockOrderPolicy) -> LaunchOptions {
    LaunchOptions { step_limit: Some(steps), order, races: Races::Shared, ..LaunchOptions::default() }
}

#[test]
fn an_endless_loop_ends_at_the_limit_and_says_where() {
    for order in [BlockOrderPolicy::Deterministic, BlockOrderPolicy::Parallel, BlockOrderPolicy::Cooperative]
    {
        let (mut machine, launch) = machine();
        let report = machine.launch("spin", &launch.options(limited(1_000, order))).unwrap();
        assert_eq!(report.error, Some(LaunchError::StepLimit { limit: 1_000 }));
        let at_limit = |line: u32| {
            let here = |finding: &&tilewright_emulator::Finding| {
                finding.at.source.as_ref().is_some_and(|at| at.line == line)
            };
            report.errors().find(here).unwrap_or_else(|| panic!("{:?}", report.findings))
        };
        let spinning = at_limit(5);
        assert_eq!((spinning.kind, spinning.severity), (FindingKind::StepLimit, Severity::Error));
        assert_eq!(spinning.kernel, "spin");
        assert_eq!(spinning.at.source.as_ref().unwrap().file, "spin.cu");
        assert_eq!((spinning.at.ptx_line, spinning.at.opcode.as_str()), (15, "ld.volatile.global.u32"));
        assert_eq!(spinning.at.threads, (32..64).map(|x| [x, 0, 0]).collect::<Vec<_>>());
        assert!(spinning.message.contains("1000 warp instructions"), "{spinning}");
        let waiting = at_limit(7);
        assert_eq!((waiting.kind, waiting.at.opcode.as_str()), (FindingKind::StepLimit, "bar.sync"));
        assert!(
            waiting.at.threads.contains(&[0, 0, 0]) && waiting.message.contains("waits at barrier 0"),
            "{waiting}"
        );
    }
}

#[test]
fn an_endless_loop_ends_after_its_time_and_says_where() {
    let limit = Duration::from_millis(30);
    for order in [BlockOrderPolicy::Deterministic, BlockOrderPolicy::Parallel, BlockOrderPolicy::Cooperative]
    {
        let (mut machine, launch) = machine();
        let options = LaunchOptions { time_limit: Some(limit), order, ..LaunchOptions::default() };
        let began = Instant::now();
        let report = machine.launch("spin", &launch.options(options)).unwrap();
        assert!(began.elapsed() >= limit, "{:?}", began.elapsed());
        // The first look after the limit ends it, and there are many in a second.
        assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
        assert_eq!(report.error, Some(LaunchError::TimeLimit { limit }));
        let finding = report.errors().find(|finding| finding.at.ptx_line == 15).unwrap();
        assert_eq!(finding.kind, FindingKind::TimeLimit);
        assert!(finding.message.contains("30ms after the launch began, the limit of time"), "{finding}");
        assert!(finding.fix.contains("a higher limit"), "{finding}");
    }
}

#[test]
fn limits_hold_where_every_warp_is_a_block_and_stops_at_barriers_alone() {
    for order in [BlockOrderPolicy::Deterministic, BlockOrderPolicy::Cooperative] {
        for (step_limit, time_limit) in [(Some(1_000), None), (None, Some(Duration::from_millis(10)))] {
            let mut machine = Machine::new(Program::new(ENDLESS).unwrap());
            let options = LaunchOptions { order, step_limit, time_limit, ..LaunchOptions::default() };
            let launch = Launch::new([2, 1, 1], [32, 1, 1]).options(options);
            let report = machine.launch("barriers", &launch).unwrap();
            match report.error {
                Some(LaunchError::StepLimit { limit }) => assert_eq!(Some(limit), step_limit),
                Some(LaunchError::TimeLimit { limit }) => assert_eq!(Some(limit), time_limit),
                other => panic!("{other:?}"),
            }
            assert!(report.errors().next().is_some());
        }
    }
}

#[test]
fn a_launch_that_is_done_is_not_late() {
    let mut machine = Machine::new(Program::new(ENDLESS).unwrap());
    let options = LaunchOptions { time_limit: Some(Duration::ZERO), ..LaunchOptions::default() };
    let report = machine.launch("straight", &Launch::new([1, 1, 1], [64, 1, 1]).options(options)).unwrap();
    assert!(report.is_clean(), "{:?}", report.error);
}

#[test]
fn short_blocks_without_end_are_late_too() {
    let mut machine = Machine::new(Program::new(ENDLESS).unwrap());
    let limit = Duration::from_millis(50);
    for order in [BlockOrderPolicy::Deterministic, BlockOrderPolicy::Parallel] {
        let options = LaunchOptions { time_limit: Some(limit), order, ..LaunchOptions::default() };
        let launch = Launch::new([i32::MAX as u32, 1, 1], [32, 1, 1]).options(options);
        let report = machine.launch("straight", &launch).unwrap();
        assert_eq!(report.error, Some(LaunchError::TimeLimit { limit }));
    }
}

#[test]
fn time_and_not_steps_limits_a_launch_unless_more_is_said() {
    let options = LaunchOptions::default();
    assert_eq!((options.step_limit, options.time_limit), (None, Some(Duration::from_secs(60))));
}

#[test]
fn progress_is_told_from_time_to_time() {
    let (mut machine, launch) = machine();
    let stop = AtomicBool::new(false);
    let told = AtomicU64::new(0);
    let count = |steps| {
        // A little more than the warp's turn.
        assert!(steps < 1 << 18, "{steps}");
        if told.fetch_add(1, Relaxed) == 8 {
            stop.store(true, Relaxed);
        }
    };
    let watch = Watch { steps_done: Some(&count), stop: Some(&stop), ..Watch::default() };
    let options = LaunchOptions { order: BlockOrderPolicy::Deterministic, ..LaunchOptions::default() };
    let report = machine.launch_watched("spin", &launch.options(options), watch).unwrap();
    assert!(matches!(report.error, Some(LaunchError::Interrupted { .. })), "{:?}", report.error);
}

#[test]
fn steps_are_instructions_of_warps() {
    // Three instructions, two warps in each of three blocks.
    let mut machine = Machine::new(Program::new(ENDLESS).unwrap());
    let launch = Launch::new([3, 1, 1], [64, 1, 1]);
    let steps = AtomicU64::new(0);
    let count = |more| {
        steps.fetch_add(more, Relaxed);
    };
    let enough = launch.clone().options(limited(18, BlockOrderPolicy::Deterministic));
    let watch = Watch { steps_done: Some(&count), ..Watch::default() };
    let report = machine.launch_watched("straight", &enough, watch).unwrap();
    assert!(report.is_clean(), "{:?}", report.error);
    assert_eq!((steps.load(Relaxed), report.counters.warp_instructions), (18, 18));
    let report =
        machine.launch("straight", &launch.options(limited(17, BlockOrderPolicy::Deterministic))).unwrap();
    assert_eq!(report.error, Some(LaunchError::StepLimit { limit: 17 }));
}

#[test]
fn a_launch_that_the_host_stops_says_where_it_was() {
    for order in [BlockOrderPolicy::Parallel, BlockOrderPolicy::Cooperative] {
        let (mut machine, launch) = machine();
        let stop = AtomicBool::new(false);
        let launch =
            launch.options(LaunchOptions { order, races: Races::Shared, ..LaunchOptions::default() });
        let began = Instant::now();
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                stop.store(true, Relaxed);
            });
            machine.launch_watched("spin", &launch, Watch { stop: Some(&stop), ..Watch::default() }).unwrap()
        });
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(
            matches!(report.error, Some(LaunchError::Interrupted { steps }) if steps > 0),
            "{:?}",
            report.error
        );
        let finding = report.findings.iter().find(|finding| finding.at.ptx_line == 15).unwrap();
        assert_eq!(finding.kind, FindingKind::Interrupted, "{finding}");
        assert_eq!(report.errors().count(), 0);
        assert!(report.counters.warp_instructions > 0);
    }
}
