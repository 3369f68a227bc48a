//! Lanes of a warp that name different members: tiles, labelled partitions, lanes that `match` has found equal. Each group is a warp of
//! its own, and what it computes is compared with the definition, lane by lane.

use tilewright_emulator::{FindingKind, Launch, Machine, Program, Report};

const HEAD: &str = ".version 9.0 .target sm_100a .address_size 64
    .shared .align 4 .b8 room[128];
    .func (.param .b32 r) both_ways(.param .b32 p, .param .b32 q) {
        .reg .b32 %m, %v, %b; .reg .pred %p;
        ld.param.b32 %m, [p];
        ld.param.b32 %v, [q];
        setp.ne.u32 %p, %v, 0;
        vote.sync.ballot.b32 %b, %p, %m;
        st.param.b32 [r], %b;
        ret;
    }";

/// A kernel of one warp that loads a mask, a value, another lane of its group and the clamp of shuffles for each lane, and
/// stores what `body` leaves in `%out`.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}
        .visible .entry k(.param .u64 masks, .param .u64 values, .param .u64 others, .param .u32 clamp, .param .u64 to) {{
            .reg .b64 %rd<9>; .reg .b32 %mask, %value, %other, %clamp, %out, %lane, %at, %r<9>; .reg .f32 %f<3>; .reg .pred %p, %q;
            mov.u32 %lane, %laneid;
            ld.param.u64 %rd1, [masks]; mad.wide.u32 %rd1, %lane, 4, %rd1; ld.global.u32 %mask, [%rd1];
            ld.param.u64 %rd2, [values]; mad.wide.u32 %rd2, %lane, 4, %rd2; ld.global.u32 %value, [%rd2];
            ld.param.u64 %rd3, [others]; mad.wide.u32 %rd3, %lane, 4, %rd3; ld.global.u32 %other, [%rd3];
            ld.param.u32 %clamp, [clamp];
            and.b32 %r1, %value, 1; setp.ne.u32 %p, %r1, 0;
            mov.u32 %at, room; mad.lo.u32 %at, %lane, 4, %at;
            {body}
            ld.param.u64 %rd4, [to]; mad.wide.u32 %rd4, %lane, 4, %rd4; st.global.u32 [%rd4], %out;
            ret;
        }}"
    )
}

/// What one launch is given.
#[derive(Clone)]
struct Given {
    masks: [u32; 32],
    values: [u32; 32],
    others: [u32; 32],
    clamp: u32,
}

fn each(f: impl Fn(u32) -> u32) -> [u32; 32] {
    std::array::from_fn(|lane| f(lane as u32))
}

/// Small numbers, equal ones among them.
fn values() -> [u32; 32] {
    each(|lane| (lane * 7 + lane * lane / 5) % 6)
}

/// `cg::tiled_partition<size>`; everyone looks at the next lane of its tile, around its end.
fn tiles(size: u32) -> Given {
    let ones = ((1u64 << size) - 1) as u32;
    Given {
        masks: each(|lane| ones << (lane / size * size)),
        values: values(),
        others: each(|lane| lane / size * size + (lane + 1) % size),
        clamp: (32 - size) << 8 | 31,
    }
}

/// `cg::labeled_partition`: lanes of one label lie anywhere; everyone looks at the lowest of its group.
fn labelled(label: impl Fn(u32) -> u32) -> Given {
    let masks = each(|lane| (0..32).filter(|&l| label(l) == label(lane)).fold(0, |mask, l| mask | 1 << l));
    Given { masks, values: values(), others: each(|lane| masks[lane as usize].trailing_zeros()), clamp: 31 }
}

fn run(ptx: &str, given: &Given) -> (Report, [u32; 32]) {
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let masks = machine.upload(&given.masks).unwrap();
    let values = machine.upload(&given.values).unwrap();
    let others = machine.upload(&given.others).unwrap();
    let to = machine.allocate(128).unwrap();
    let launch = Launch::new([1; 3], [32, 1, 1]).arg(masks).arg(values).arg(others).arg(given.clamp).arg(to);
    let report = machine.launch("k", &launch).unwrap();
    (report, machine.download(to, 32).unwrap().try_into().unwrap())
}

/// Runs `body`, which no check may find anything in, and compares.
fn expect(name: &str, body: &str, given: &Given, wanted: impl Fn(u32) -> u32) {
    let (report, out) = run(&kernel(body), given);
    assert!(report.error.is_none(), "{name}: {:?}", report.error);
    assert!(report.findings.is_empty(), "{name}: {}", report.findings[0]);
    assert_eq!(out, each(wanted), "{name}, {:08x?}", given.masks);
}

/// The values of the lanes that `lane` names.
fn members(given: &Given, lane: u32) -> impl Iterator<Item = (u32, u32)> {
    let (mask, values) = (given.masks[lane as usize], given.values);
    (0..32).filter(move |l| mask >> l & 1 == 1).map(move |l| (l, values[l as usize]))
}

/// A body, and what it gives `lane`.
type Row = (&'static str, fn(&Given, u32) -> u32);

fn fold(given: &Given, lane: u32, f: fn(u32, u32) -> u32) -> u32 {
    members(given, lane).map(|member| member.1).reduce(f).unwrap()
}

fn ballot(given: &Given, lane: u32, holds: impl Fn(u32) -> bool) -> u32 {
    members(given, lane).filter(|member| holds(member.1)).fold(0, |mask, member| mask | 1 << member.0)
}

/// All that works in groups of any shape.
const ANYWHERE: &[Row] = &[
    ("shfl.sync.idx.b32 %out, %value, %other, 31, %mask;", |g, l| g.values[g.others[l as usize] as usize]),
    ("mov.b32 %out, %value; shfl.sync.idx.b32 %out, %out, %other, 31, %mask;", |g, l| {
        g.values[g.others[l as usize] as usize]
    }),
    ("vote.sync.ballot.b32 %out, %p, %mask;", |g, l| ballot(g, l, |v| v & 1 == 1)),
    ("vote.sync.all.pred %q, %p, %mask; selp.u32 %out, 1, 0, %q;", |g, l| fold(g, l, |a, b| a & b) & 1),
    ("vote.sync.any.pred %q, %p, %mask; selp.u32 %out, 1, 0, %q;", |g, l| fold(g, l, |a, b| a | b) & 1),
    ("vote.sync.uni.pred %q, %p, %mask; selp.u32 %out, 1, 0, %q;", |g, l| {
        let (all, any) = (fold(g, l, |a, b| a & b) & 1, fold(g, l, |a, b| a | b) & 1);
        u32::from(all == any)
    }),
    ("redux.sync.add.u32 %out, %value, %mask;", |g, l| fold(g, l, |a, b| a + b)),
    ("redux.sync.min.u32 %out, %value, %mask;", |g, l| fold(g, l, u32::min)),
    ("redux.sync.max.s32 %out, %value, %mask;", |g, l| fold(g, l, u32::max)),
    ("redux.sync.and.b32 %out, %value, %mask;", |g, l| fold(g, l, |a, b| a & b)),
    ("redux.sync.or.b32 %out, %value, %mask;", |g, l| fold(g, l, |a, b| a | b)),
    ("redux.sync.xor.b32 %out, %value, %mask;", |g, l| fold(g, l, |a, b| a ^ b)),
    ("cvt.rn.f32.u32 %f1, %value; redux.sync.max.f32 %f2, %f1, %mask; cvt.rzi.u32.f32 %out, %f2;", |g, l| {
        fold(g, l, u32::max)
    }),
    ("match.any.sync.b32 %out, %value, %mask;", |g, l| ballot(g, l, |v| v == g.values[l as usize])),
    ("shr.u32 %r1, %value, 2; match.all.sync.b32 %out|%q, %r1, %mask; @%q add.u32 %out, %out, 1;", |g, l| {
        let same = members(g, l).all(|member| member.1 >> 2 == g.values[l as usize] >> 2);
        if same { g.masks[l as usize].wrapping_add(1) } else { 0 }
    }),
    ("elect.sync %out|%q, %mask; @%q add.u32 %out, %out, 100;", |g, l| {
        let leader = g.masks[l as usize].trailing_zeros();
        if leader == l { leader + 100 } else { leader }
    }),
    (
        "st.shared.u32 [%at], %value; bar.warp.sync %mask;
         mov.u32 %r2, room; mad.lo.u32 %r2, %other, 4, %r2; ld.shared.u32 %out, [%r2];",
        |g, l| g.values[g.others[l as usize] as usize],
    ),
];

/// Shuffles by distance: all lanes of a tile lie side by side.
const IN_TILES: &[Row] = &[
    ("shfl.sync.down.b32 %out|%q, %value, 1, %clamp, %mask; @!%q mov.u32 %out, 99;", |g, l| {
        let last = 31 - g.masks[l as usize].leading_zeros();
        if l == last { 99 } else { g.values[l as usize + 1] }
    }),
    ("shfl.sync.bfly.b32 %out, %value, 1, %clamp, %mask;", |g, l| g.values[(l ^ 1) as usize]),
    (
        // An inclusive prefix sum.
        "mov.u32 %out, %value; mov.u32 %r3, 1; and.b32 %r5, %clamp, 0x1f00;
         MORE: shfl.sync.up.b32 %r4|%q, %out, %r3, %r5, %mask; @%q add.u32 %out, %out, %r4;
         shl.b32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 32; @%q bra.uni MORE;",
        |g, l| members(g, l).filter(|member| member.0 <= l).map(|member| member.1).sum(),
    ),
];

#[test]
fn tiles_of_every_size_work_side_by_side() {
    for size in [32, 16, 8, 4, 2] {
        let given = tiles(size);
        for (body, wanted) in ANYWHERE.iter().chain(IN_TILES) {
            expect(&format!("tiles of {size}: {body}"), body, &given, |lane| wanted(&given, lane));
        }
    }
}

#[test]
fn labelled_partitions_lie_anywhere() {
    let labels: [fn(u32) -> u32; 4] =
        [|lane| lane % 3, |lane| (lane * lane) % 7, |lane| u32::from(lane == 13), |lane| lane];
    for label in labels {
        let given = labelled(label);
        for (body, wanted) in ANYWHERE {
            expect(body, body, &given, |lane| wanted(&given, lane));
        }
    }
}

#[test]
fn lanes_that_match_found_equal_work_together() {
    // `mask = __match_any_sync(~0u, key)`, then each group by its mask: one lane of each adds for all.
    for shift in 0..3 {
        let given = labelled(|lane| values()[lane as usize] >> shift);
        for (body, wanted) in ANYWHERE {
            let body = format!("shr.u32 %r6, %value, {shift}; match.any.sync.b32 %mask, %r6, -1; {body}");
            expect(&body, &body, &given, |lane| wanted(&given, lane));
        }
    }
}

#[test]
fn lanes_of_a_group_may_come_by_different_ways() {
    // On both ways a function votes: everyone is at one instruction, some later than others.
    let call = "call.uni (%out), both_ways, (%mask, %r1);";
    let body = |first_way: &str| format!("{first_way} @%q bra ODD; {call} bra MEET; ODD: {call} MEET:");
    for size in [16, 8, 4, 2] {
        let given = tiles(size);
        let wanted = |lane| ballot(&given, lane, |v| v & 1 == 1);
        // All groups are torn in two.
        expect("odd lanes", &body("and.b32 %r7, %lane, 1; setp.eq.u32 %q, %r7, 0;"), &given, wanted);
        // Some are, and some are whole on one side.
        expect("lanes from 5 to 12", &body("sub.u32 %r7, %lane, 5; setp.lt.u32 %q, %r7, 8;"), &given, wanted);
    }
}

#[test]
fn a_barrier_of_a_tile_waits_for_lanes_at_other_instructions() {
    let body = "and.b32 %r7, %lane, 1; setp.eq.u32 %q, %r7, 0; mov.u32 %out, 0;
        @%q bra EVEN; bar.warp.sync %mask; ld.shared.u32 %out, [%at+-4]; bra MEET;
        EVEN: st.shared.u32 [%at], %value; bar.warp.sync %mask; MEET:";
    for size in [16, 8, 4, 2] {
        let given = tiles(size);
        expect("halves", body, &given, |l| if l % 2 == 1 { given.values[l as usize - 1] } else { 0 });
    }
}

/// The kinds of the errors of a launch, without repetitions.
fn errors(body: &str, given: &Given) -> Vec<FindingKind> {
    let (report, _) = run(&kernel(body), given);
    let mut kinds: Vec<_> = report.errors().map(|finding| finding.kind).collect();
    kinds.dedup();
    kinds
}

const VOTE: &str = "vote.sync.ballot.b32 %out, %p, %mask;";

#[test]
fn a_lane_that_its_own_mask_leaves_out_is_found() {
    // Everyone names the tile beside its own.
    let mut given = tiles(8);
    given.masks = each(|lane| 0xff << ((lane / 8 * 8) ^ 8));
    assert!(errors(VOTE, &given).contains(&FindingKind::WarpMask));
    // One lane leaves itself out, and is not named by others.
    let mut given = tiles(8);
    given.masks[..8].copy_from_slice(&[0x7f; 8]);
    let (report, _) = run(&kernel(VOTE), &given);
    let finding = report.errors().next().unwrap();
    assert_eq!(
        (finding.kind, &finding.at.threads[..]),
        (FindingKind::WarpMask, &[[7, 0, 0]][..]),
        "{finding}"
    );
    assert_eq!(report.errors().count(), 1);
}

#[test]
fn lanes_that_name_each_other_and_disagree_are_found() {
    // Lane 5 names the whole warp, and all others of its tile think that it is with them. Everyone returns: nobody waits for ever.
    let mut given = tiles(16);
    given.masks[5] = u32::MAX;
    let (report, _) = run(&kernel(VOTE), &given);
    let finding = report.errors().find(|finding| finding.kind == FindingKind::WarpMask).unwrap();
    assert!(finding.message.contains("another mask"), "{finding}");
}

#[test]
fn lanes_that_never_come_are_found() {
    // The upper half of each tile waits at a barrier of the block instead.
    let body = "and.b32 %r7, %lane, 4; setp.ne.u32 %q, %r7, 0; mov.u32 %out, 0;
        @%q bra UPPER; bar.warp.sync %mask; UPPER: barrier.sync 0;";
    assert!(errors(body, &tiles(8)).contains(&FindingKind::Deadlock));
}

#[test]
fn a_tile_orders_nothing_beyond_itself() {
    // Written by a lane of one tile, read by one of the next: `tile.sync()` is not enough.
    let body = "st.shared.u32 [%at], %value; bar.warp.sync %mask;
        xor.b32 %r7, %lane, 8; mov.u32 %r2, room; mad.lo.u32 %r2, %r7, 4, %r2; ld.shared.u32 %out, [%r2];";
    assert_eq!(errors(body, &tiles(8)), [FindingKind::WarpRace]);
    assert_eq!(errors(body, &tiles(16)), []);
}
