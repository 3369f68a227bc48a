//! Surfaces: `suld`, `sust` and `suq`, with what they do outside.

use tilewright_emulator::{
    DevicePointer, FindingKind, Launch, LaunchError, Machine, Program, Report, Surface,
};

/// A kernel of one thread that takes a surface, coordinates and an array of results.
fn kernel(body: &str) -> Program {
    let ptx = format!(
        ".version 9.0 .target sm_90 .address_size 64
        .global .surfref variable;
        .visible .entry k(.param .u64 handle, .param .u32 x, .param .u32 y, .param .u32 z, .param .u64 to) {{
            .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
            ld.param.u64 %rd1, [handle]; ld.param.u64 %rd2, [to];
            ld.param.u32 %r1, [x]; ld.param.u32 %r2, [y]; ld.param.u32 %r3, [z];
            mov.u32 %r5, 11; mov.u32 %r6, 12; mov.u32 %r7, 13; mov.u32 %r8, 14;
            {body}
            ret;
        }}"
    );
    Program::new(&ptx).unwrap()
}

/// 2 x 3 x 4 words that count from 100, a row of which has 5.
struct Case {
    machine: Machine,
    words: DevicePointer,
    to: DevicePointer,
}

const PITCH: usize = 5;

impl Case {
    fn new(body: &str) -> Self {
        let mut machine = Machine::new(kernel(body));
        let words = machine.upload(&(100..100 + 2 * 3 * PITCH as u32).collect::<Vec<_>>()).unwrap();
        let to = machine.upload(&[7u32; 4]).unwrap();
        Self { machine, words, to }
    }

    fn surface(&self) -> Surface {
        Surface { address: self.words.address(), pitch: 4 * PITCH as u64, extent: [4, 3, 2], element: 4 }
    }

    fn run(&mut self, [x, y, z]: [i32; 3], handle: u64) -> Report {
        let at = [x, y, z].map(i32::cast_unsigned);
        let launch = Launch::new([1; 3], [1; 3]).arg(1234u64).arg(at[0]).arg(at[1]).arg(at[2]).arg(self.to);
        self.machine.launch("k", &launch.surface(handle, self.surface())).unwrap()
    }

    fn clean(&mut self, at: [i32; 3]) {
        let report = self.run(at, 1234);
        assert!(report.is_clean(), "{:?} {:?}", report.findings, report.error);
    }

    fn results(&mut self) -> [u32; 4] {
        self.machine.download::<u32>(self.to, 4).unwrap().try_into().unwrap()
    }

    fn word(&mut self, [x, y, z]: [usize; 3]) -> u32 {
        let all = self.machine.download::<u32>(self.words, 2 * 3 * PITCH).unwrap();
        all[(z * 3 + y) * PITCH + x]
    }
}

#[test]
fn elements_of_every_size_and_vectors_are_read() {
    for (body, at, expected) in [
        ("suld.b.1d.b32.trap {%r4}, [%rd1, {%r1}]; st.global.u32 [%rd2], %r4;", [8, 0, 0], [102, 7, 7, 7]),
        (
            "suld.b.2d.b32.trap {%r4}, [%rd1, {%r1, %r2}]; st.global.u32 [%rd2], %r4;",
            [4, 2, 0],
            [111, 7, 7, 7],
        ),
        // The fourth coordinate has no meaning.
        (
            "suld.b.3d.b32.trap {%r4}, [%rd1, {%r1, %r2, %r3, %r3}]; st.global.u32 [%rd2], %r4;",
            [0, 1, 1],
            [120, 7, 7, 7],
        ),
        // The layer comes first.
        (
            "suld.b.a2d.b32.trap {%r4}, [%rd1, {%r3, %r1, %r2, %r2}]; st.global.u32 [%rd2], %r4;",
            [4, 0, 1],
            [116, 7, 7, 7],
        ),
        (
            "suld.b.a1d.b32.trap {%r4}, [%rd1, {%r3, %r1}]; st.global.u32 [%rd2], %r4;",
            [4, 0, 1],
            [116, 7, 7, 7],
        ),
        (
            "suld.b.2d.v2.b32.trap {%r4, %r5}, [%rd1, {%r1, %r2}]; st.global.v2.u32 [%rd2], {%r4, %r5};",
            [8, 1, 0],
            [107, 108, 7, 7],
        ),
        (
            "suld.b.2d.v4.b32.trap {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];
             st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};",
            [0, 1, 0],
            [105, 106, 107, 108],
        ),
        (
            "suld.b.2d.b64.trap {%rd3}, [%rd1, {%r1, %r2}]; st.global.u64 [%rd2], %rd3;",
            [8, 0, 0],
            [102, 103, 7, 7],
        ),
        (
            "suld.b.2d.b16.trap {%h1}, [%rd1, {%r1, %r2}]; cvt.u32.u16 %r4, %h1; st.global.u32 [%rd2], %r4;",
            [4, 0, 0],
            [101, 7, 7, 7],
        ),
        (
            "suld.b.2d.b8.trap {%h1}, [%rd1, {%r1, %r2}]; cvt.u32.u16 %r4, %h1; st.global.u32 [%rd2], %r4;",
            [5, 0, 0],
            [0, 7, 7, 7],
        ),
        ("suq.width.b32 %r4, [%rd1]; st.global.u32 [%rd2], %r4;", [0; 3], [4, 7, 7, 7]),
        ("suq.height.b32 %r4, [%rd1]; st.global.u32 [%rd2], %r4;", [0; 3], [3, 7, 7, 7]),
        ("suq.depth.b32 %r4, [%rd1]; st.global.u32 [%rd2], %r4;", [0; 3], [2, 7, 7, 7]),
    ] {
        let mut case = Case::new(body);
        case.clean(at);
        assert_eq!(case.results(), expected, "{body}");
    }
}

#[test]
fn what_is_written_lies_in_memory() {
    let mut case = Case::new("sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r5};");
    case.clean([12, 2, 0]);
    assert_eq!([case.word([3, 2, 0]), case.word([2, 2, 0]), case.word([4, 2, 0])], [11, 112, 114]);
    let mut case = Case::new("sust.b.3d.v2.b32.trap [%rd1, {%r1, %r2, %r3, %r3}], {%r5, %r6};");
    case.clean([8, 0, 1]);
    assert_eq!([case.word([2, 0, 1]), case.word([3, 0, 1])], [11, 12]);
    let mut case = Case::new("cvt.u16.u32 %h1, %r5; sust.b.2d.b8.trap [%rd1, {%r1, %r2}], {%h1};");
    case.clean([1, 0, 0]);
    assert_eq!(case.word([0, 0, 0]), 100 + (11 << 8));
}

#[test]
fn outside_the_nearest_element_zero_or_a_finding() {
    let load = |outside: &str| {
        format!("suld.b.2d.b32.{outside} {{%r4}}, [%rd1, {{%r1, %r2}}]; st.global.u32 [%rd2], %r4;")
    };
    let store = |outside: &str| format!("sust.b.2d.b32.{outside} [%rd1, {{%r1, %r2}}], {{%r5}};");
    for (at, nearest) in
        [([-4, 0, 0], 100), ([16, 1, 0], 108), ([0, -1, 0], 100), ([4, 3, 0], 111), ([99 * 4, 99, 0], 113)]
    {
        let mut case = Case::new(&load("clamp"));
        case.clean(at);
        assert_eq!(case.results()[0], nearest, "{at:?}");
        let mut case = Case::new(&load("zero"));
        case.clean(at);
        assert_eq!(case.results()[0], 0, "{at:?}");
        for body in [load("trap"), store("trap")] {
            let report = Case::new(&body).run(at, 1234);
            assert_eq!(report.findings[0].kind, FindingKind::OutOfBounds, "{at:?}");
        }
        let mut case = Case::new(&store("zero"));
        case.clean(at);
        let all = case.machine.download::<u32>(case.words, 30).unwrap();
        assert_eq!(all, (100..130).collect::<Vec<_>>(), "{at:?}");
    }
    let mut case = Case::new(&store("clamp"));
    case.clean([16, 9, 0]);
    assert_eq!(case.word([3, 2, 0]), 11);
}

#[test]
fn faults_are_found() {
    let body = "suld.b.2d.b32.trap {%r4}, [%rd1, {%r1, %r2}];";
    assert_eq!(Case::new(body).run([2, 0, 0], 1234).findings[0].kind, FindingKind::Misaligned);
    let unbound = Case::new(body).run([0; 3], 1);
    assert_eq!(unbound.findings[0].kind, FindingKind::UnboundTexture);
    assert!(unbound.findings[0].message.contains("surface object 0x4d2"), "{}", unbound.findings[0].message);
    let variable = Case::new("suq.width.b32 %r4, [variable];").run([0; 3], 1);
    assert!(variable.findings[0].message.contains("`variable`"), "{}", variable.findings[0].message);
    // A surface that is larger than its memory.
    let mut case = Case::new(body);
    let surface = Surface { extent: [4, 100, 1], ..case.surface() };
    let launch = Launch::new([1; 3], [1; 3]).arg(9u64).arg(0u32).arg(50u32).arg(0u32).arg(case.to);
    let report = case.machine.launch("k", &launch.surface(9, surface)).unwrap();
    assert_eq!(report.findings[0].kind, FindingKind::OutOfBounds);
}

#[test]
fn variables_are_bound_by_their_address() {
    let mut case = Case::new("suld.b.1d.b32.trap {%r4}, [variable, {%r1}]; st.global.u32 [%rd2], %r4;");
    let address = case.machine.symbol("variable").unwrap().address;
    let report = case.run([4, 0, 0], address);
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(case.results()[0], 101);
}

#[test]
fn what_is_not_there_is_named() {
    for (body, reason) in [
        ("sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r5;", "reductions on surfaces"),
        ("sust.p.2d.v4.b32.trap [%rd1, {%r1, %r2}], {%r5, %r6, %r7, %r8};", "formatted stores"),
        ("suq.channel_order.b32 %r4, [%rd1];", "width, height, depth and layers"),
    ] {
        let Some(LaunchError::Unsupported { reason: why, .. }) = Case::new(body).run([0; 3], 1234).error
        else {
            panic!("{body}")
        };
        assert!(why.contains(reason), "{why}");
    }
}
