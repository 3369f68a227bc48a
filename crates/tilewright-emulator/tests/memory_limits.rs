//! Modules that ask for absurd amounts of memory get an error that names what asks, before anything is taken.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tilewright_emulator::{Argument, Launch, LaunchError, LaunchOptions, Machine, Program};

/// Counts the bytes that are taken. More than `REFUSED` at once it does not give: the process ends, as it would where memory ends.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// What launches may take.
const LIMIT: usize = 64 << 20;
/// What no allocation may come to.
const REFUSED: usize = 256 << 20;

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        if layout.size() > REFUSED {
            return std::ptr::null_mut();
        }
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as for this function.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MODULE: &str = ".version 9.0
.target sm_90
.address_size 64
.global .align 4 .u32 counters[16];
.visible .global .align 8 .b8 table[4][8] = {{1, 2}, {3}, {4, 5, 6}};
.global .align 4 .u32 open[] = {1, 2, 3};
.const .align 4 .f32 weights[8] = {0f3F800000, 0f40000000};
.shared .align 4 .b8 room[256];
.extern .shared .align 16 .b8 dynamic[];
.func (.param .align 4 .b8 r[8]) helper(.param .align 4 .b8 x[8], .param .b64 y)
{
    .local .align 4 .b8 depot[16];
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.b32 %r1, [x+4];
    mov.u64 %rd1, depot;
    st.local.b32 [%rd1+8], %r1;
    ld.local.b32 %r2, [%rd1+8];
    st.param.b32 [r+0], %r2;
    ret;
}
.visible .entry first(.param .u64 to, .param .align 4 .b8 pair[8])
{
    .local .align 8 .b8 stack[64];
    .global .align 4 .u32 inner[4];
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
    ld.param.b32 %r1, [pair+4];
    mov.u64 %rd2, stack;
    st.local.b32 [%rd2+32], %r1;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, room;
    mad.lo.u32 %r3, %r2, 4, %r3;
    st.shared.u32 [%r3], %r2;
    {
        .param .align 4 .b8 given[8]; .param .b64 more; .param .align 4 .b8 back[8];
        st.param.b32 [given+4], %r2;
        call (back), helper, (given, more);
        ld.param.b32 %r4, [back+0];
    }
    mov.u64 %rd3, counters;
    mad.wide.u32 %rd3, %r2, 4, %rd3;
    setp.lt.u32 %p1, %r2, 16;
    @%p1 st.global.u32 [%rd3], %r4;
    ret;
}
.visible .entry second()
{
    .reg .b32 %r<2>;
    ld.const.b32 %r1, [weights+4];
    ret;
}
";

/// Numbers that were sizes of something once, and those around the ends of types.
const NUMBERS: &[u64] = &[
    0,
    1,
    3,
    16,
    255,
    4096,
    65_535,
    65_536,
    1 << 20,
    (1 << 20) + 1,
    1 << 23,
    1 << 24,
    1 << 26,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    (1 << 36) - 1,
    1 << 36,
    1 << 40,
    1 << 61,
    1 << 62,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 3,
    u64::MAX,
];

/// A generator of xorshift: the same numbers every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The module with one to three sizes, dimensions or other numbers changed, or dimensions added.
fn mutated(random: &mut Random) -> String {
    let mut text = MODULE.to_string();
    for _ in 0..1 + random.below(3) {
        let bytes = text.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let starts: Vec<usize> = (0..bytes.len())
            .filter(|&at| digit(at) && matches!(bytes[at - 1], b'[' | b'<' | b' ' | b'{'))
            .collect();
        let start = starts[random.below(starts.len())];
        let end = (start..).find(|&at| !digit(at)).unwrap();
        let number = NUMBERS[random.below(NUMBERS.len())].to_string();
        let is_dimension = text.as_bytes()[start - 1] == b'[';
        let new = if is_dimension && random.below(3) == 0 {
            format!("{number}][{}", NUMBERS[random.below(NUMBERS.len())])
        } else {
            number
        };
        text.replace_range(start..end, &new);
    }
    text
}

fn options() -> LaunchOptions {
    LaunchOptions { memory_limit: LIMIT as u64, step_limit: Some(1 << 16), ..LaunchOptions::default() }
}

/// Loads and launches everything, and gives the errors.
fn run(text: &str) -> Vec<String> {
    let program = match Program::new(text) {
        Ok(program) => program,
        Err(error) => return vec![error.to_string()],
    };
    let mut machine = Machine::new(program);
    let mut errors = Vec::new();
    for entry in ["first", "second"] {
        let parameters = machine.program().parameters(entry).unwrap_or_default().to_vec();
        let mut launch = Launch::new([64, 1, 1], [64, 1, 1]).options(options());
        for parameter in parameters {
            launch = launch.arg(Argument::bytes(&vec![0; parameter.bytes]));
        }
        match machine.launch(entry, &launch) {
            Err(error) => errors.push(error.to_string()),
            Ok(report) => errors.extend(report.error.map(|error| error.to_string())),
        }
    }
    errors
}

/// What `run` takes at most, beside what was there.
fn most(text: &str) -> (usize, Vec<String>) {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let errors = run(text);
    (MOST.load(Relaxed) - before, errors)
}

/// `scatter`: every thread adds to a word far from that of its neighbour. `recurse`: functions call themselves `depth` times, with local memory
/// at every level. `print`: text without end.
const TAKING: &str = ".version 9.0
.target sm_90
.address_size 64
.global .align 1 .b8 words[22] = {97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 10, 0};
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 list);
.func (.param .b32 r) sum(.param .b32 n)
{
    .local .align 4 .b8 depot[512];
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.b32 %r1, [n];
    mov.u64 %rd1, depot;
    st.local.b32 [%rd1], %r1;
    mov.u32 %r2, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra END;
    {
        .param .b32 less; .param .b32 back;
        sub.u32 %r2, %r1, 1;
        st.param.b32 [less], %r2;
        call (back), sum, (less);
        ld.param.b32 %r2, [back];
    }
    ld.local.b32 %r3, [%rd1];
    add.u32 %r2, %r2, %r3;
END:
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry recurse(.param .u64 to, .param .u32 depth)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
    ld.param.u32 %r1, [depth];
    {
        .param .b32 n; .param .b32 back;
        st.param.b32 [n], %r1;
        call (back), sum, (n);
        ld.param.b32 %r2, [back];
    }
    mov.u32 %r3, %tid.x;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra END;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], %r2;
END:
    ret;
}
.visible .entry scatter(.param .u64 to, .param .u32 mask)
{
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r5, [mask];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mul.lo.u32 %r1, %r1, 40503;
    and.b32 %r1, %r1, %r5;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [%rd3];
    add.u32 %r4, %r4, 1;
    st.global.u32 [%rd3], %r4;
    ret;
}
.visible .entry print()
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, words;
AGAIN:
    {
        .param .b64 format; .param .b64 list; .param .b32 back;
        st.param.b64 [format], %rd1;
        st.param.b64 [list], %rd1;
        call (back), vprintf, (format, list);
    }
    bra AGAIN;
}
";

/// Launches an entry of `TAKING` with the address of `words` words, and a number; gives the error and what it takes beside its data.
fn take(
    entry: &str,
    grid: u32,
    block: u32,
    words: u32,
    number: Option<u32>,
    limit: u64,
) -> (usize, Option<String>) {
    let mut machine = Machine::new(Program::new(TAKING).unwrap());
    let to = machine.upload(&vec![0u32; words as usize]).unwrap();
    let options = LaunchOptions { memory_limit: limit, ..LaunchOptions::default() };
    let mut launch = Launch::new([grid, 1, 1], [block, 1, 1]).options(options);
    if let Some(number) = number {
        launch = launch.arg(to).arg(number);
    }
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let report = machine.launch(entry, &launch).unwrap();
    assert_eq!(report.errors().count(), 0, "{:?}", report.findings);
    (MOST.load(Relaxed) - before, report.error.map(|error| error.to_string()))
}

/// What grows while a kernel runs.
fn what_a_kernel_takes_while_it_runs_is_limited() {
    // 1 MiB of words, for each of which some 64 bytes are remembered where no neighbours are accessed together.
    let words = 1 << 18;
    let scatter = |limit| take("scatter", words / 128, 128, words, Some(words - 1), limit);
    let (bytes, error) = scatter(1 << 30);
    assert_eq!(error, None);
    assert!((8 << 20..64 << 20).contains(&bytes), "{bytes}");
    // It is counted, within a little.
    let (_, error) = scatter(bytes as u64 * 5 / 4);
    assert_eq!(error, None, "{bytes}");
    let limit = 6 << 20;
    let (bytes, error) = scatter(limit);
    assert!(bytes < 2 * limit as usize, "{bytes}");
    let error = error.unwrap();
    assert!(error.contains("to find races") && error.contains("the limit is 6291456"), "{error}");

    // 1 MiB for a warp at this depth, and more.
    let recurse = |grid, block, depth| take("recurse", grid, block, 1, Some(depth), LIMIT as u64);
    let (bytes, error) = recurse(1, 32, 100);
    assert_eq!(error, None);
    assert!(bytes > 1 << 20, "{bytes}");
    // Blocks give it back.
    let (bytes, error) = recurse(256, 32, 100);
    assert_eq!(error, None);
    assert!(bytes < LIMIT, "{bytes}");
    let (bytes, error) = recurse(1, 1024, 900);
    assert!(bytes < 2 * LIMIT, "{bytes}");
    let error = error.unwrap();
    assert!(
        error.contains("functions that call themselves") && error.contains("the limit is 67108864"),
        "{error}"
    );

    let limit = 4 << 20;
    let (bytes, error) = take("print", 1, 32, 1, None, limit);
    assert!(bytes < 4 * limit as usize, "{bytes}");
    assert!(error.clone().unwrap_or_default().contains("what the kernel prints"), "{error:?}");
}

/// One test, since everything that the process takes is counted.
#[test]
fn no_size_in_a_module_takes_memory_beyond_the_limit() {
    let (bytes, errors) = most(MODULE);
    assert!(bytes < LIMIT / 4 && errors.is_empty(), "{bytes}: {errors:?}");

    // Everything that has a size: what is said of it names it, its size and the limit.
    for (old, new, name, size, limit) in [
        ("counters[16]", "counters[1073741824]", "counters", "4294967296", "67108864"),
        ("weights[8]", "weights[1073741824]", "weights", "4294967296", "67108864"),
        ("inner[4]", "inner[33554432]", "inner", "134217728", "67108864"),
        ("table[4][8]", "table[4294967296][8]", "table", "34359738368", "67108864"),
        ("counters[16]", "counters[34359738368]", "counters", "137438953472", "68719476735"),
        ("counters[16]", "counters[4294967296][4294967296]", "counters", "2^64", "68719476735"),
        ("open[]", "open[][9223372036854775807]", "open", "2^64", "68719476735"),
        ("room[256]", "room[1048576]", "room", "1048576", "232448"),
        ("room[256]", "room[16777216]", "room", "16777216", "8388608"),
        ("stack[64]", "stack[1000000]", "stack", "1000000", "67108864"),
        ("stack[64]", "stack[2000000]", "stack", "2000000", "1048576"),
        ("depot[16]", "depot[1048576]", "depot", "1048576", "67108864"),
        ("pair[8]", "pair[70000]", "pair", "70000", "65536"),
        ("x[8]", "x[70000]", "x", "70000", "65536"),
        ("given[8]", "given[70000]", "given", "70000", "65536"),
    ] {
        let text = MODULE.replace(old, new);
        assert_ne!(text, MODULE);
        let (bytes, errors) = most(&text);
        assert!(bytes < LIMIT, "{new}: {bytes} bytes");
        let error = errors.first().unwrap_or_else(|| panic!("{new}: no error"));
        for part in [format!("`{name}`"), size.into(), limit.into()] {
            assert!(error.contains(&part), "{new}: {part} is missing in: {error}");
        }
    }

    // What is initialised far from the start takes what is written there.
    let far = MODULE.replace("table[4][8]", "table[4][1048576]");
    let (bytes, errors) = most(&far);
    assert!(bytes < LIMIT / 4 + (4 << 20) && errors.is_empty(), "{bytes}: {errors:?}");
    let mut machine = Machine::new(Program::new(&far).unwrap());
    let row =
        |machine: &mut Machine, at: usize| machine.read_symbol::<u8>("table", at + 3).unwrap()[at..].to_vec();
    assert_eq!(row(&mut machine, 2 << 20), [4, 5, 6]);
    assert_eq!(row(&mut machine, 1 << 20), [3, 0, 0]);

    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut refused, mut ran) = (0, 0);
    for number in 0..400 {
        let text = mutated(&mut random);
        let (bytes, errors) = most(&text);
        assert!(bytes < 2 * LIMIT, "mutation {number} takes {bytes} bytes: {errors:?}\n{text}");
        if errors.is_empty() { ran += 1 } else { refused += 1 }
    }
    assert!(refused > 100 && ran > 20, "{refused} refused, {ran} ran");

    what_a_kernel_takes_while_it_runs_is_limited();

    // The limit is that of the launch.
    let mut machine = Machine::new(Program::new(MODULE).unwrap());
    let launch = Launch::new([1; 3], [32, 1, 1]).options(LaunchOptions { memory_limit: 100, ..options() });
    let error = machine.launch("second", &launch).unwrap_err();
    assert!(matches!(error, LaunchError::MemoryLimit { limit: 100, .. }), "{error}");
}
