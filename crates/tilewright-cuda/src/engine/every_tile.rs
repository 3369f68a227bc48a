//! The production kernel's whole menu on a GPU: the results of the definition, bit for bit, and nothing written beside C. The list is that of the emulator's
//! test; numbers are whole and small, so that every sum is exact whatever its order.

#[path = "../../../tilewright-emulator/tests/menu/mod.rs"]
#[allow(dead_code)] // A part of it is about the list alone.
mod menu;

use super::Engine;
use crate::device::DeviceMemory;
use menu::{Choice, Lie, Old};
use std::sync::atomic::{AtomicUsize, Ordering};
use tilewright_arch::Gpu;
use tilewright_core::semiring::Visit;
use tilewright_core::{
    Element, Joining, Layout, MatMut, MatRef, Problem, Semiring, Update, Value, reference,
};
use tilewright_kernels::{Alignment, Buffer, Request, find};

/// The elements of a matrix and of the gaps in it.
struct Operand<T> {
    elements: Vec<T>,
    layout: Layout,
    /// The index of element (0, 0).
    origin: usize,
}

impl<T: Element> Operand<T> {
    fn new(choice: &Choice, which: usize, (rows, cols): (usize, usize)) -> Self {
        let layout = match choice.lies[which] {
            Lie::Rows => Layout::row_major(rows, cols),
            Lie::Columns => Layout::col_major(rows, cols),
            Lie::Gaps => Layout::strided(rows, cols, cols as isize + 3, 1),
            Lie::ColumnGaps => Layout::strided(rows, cols, 1, rows as isize + 3),
            Lie::Reversed => Layout::strided(rows, cols, -(cols as isize), 1),
        };
        let (low, high) = layout.span().expect("small").unwrap_or((0, -1));
        let elements = menu::numbers((high - low + 1) as usize, which, choice.variant, choice.one_sign);
        Self { elements, layout, origin: low.unsigned_abs() }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::with_origin(&self.elements, self.layout, self.origin).expect("it has room")
    }

    fn offset(&self) -> usize {
        self.origin * size_of::<T>()
    }

    fn alignment(&self) -> u64 {
        1 << self.offset().trailing_zeros().min(8)
    }

    fn upload(&self, engine: &Engine) -> DeviceMemory {
        let bytes = size_of_val(&self.elements[..]);
        let memory = DeviceMemory::new(engine.stream(), "a matrix of a test", bytes).expect("fits");
        // SAFETY: as many bytes on both sides.
        unsafe { memory.write_raw(self.elements.as_ptr().cast(), bytes) }.expect("uploads");
        memory
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    /// A tile that this GPU has no room for.
    Refused,
}

struct Run<'a>(&'a Engine, &'a Choice);

fn run(engine: &Engine, choice: &Choice) -> Outcome {
    let run = Run(engine, choice);
    choice
        .variant
        .semiring
        .visit_giving(choice.variant.dtype, choice.variant.output(), run)
        .expect("a variant is defined")
}

impl Visit for Run<'_> {
    type Output = Outcome;

    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Outcome {
        let joining = match self.1.old {
            Old::Added => Joining::Accumulate,
            Old::Scaled => Joining::<Value>::scale(-2.0, 3.0),
            _ => Joining::Replace,
        };
        self.with(&S::BUILT_IN.expect("a built-in semiring").update(joining).expect("a sum has factors"))
    }
}

impl Run<'_> {
    fn with<S: Semiring<Elem: Element, Out: Element>>(&self, update: &Update<S>) -> Outcome {
        let Self(engine, choice) = *self;
        let [m, n, k] = choice.size;
        let (a, b) = (Operand::<S::Elem>::new(choice, 0, (m, k)), Operand::<S::Elem>::new(choice, 1, (k, n)));
        let mut c = Operand::<S::Out>::new(choice, 2, (m, n));
        let problem = Problem::new(a.layout, b.layout, c.layout).expect("shapes fit");
        let request = Request {
            alignment: Alignment { a: a.alignment(), b: b.alignment(), c: c.alignment() },
            gpu: Gpu { multiprocessors: choice.multiprocessors, ..engine.gpu() },
            tile: Some(choice.tile),
            splits: choice.splits(),
            pack: Some(choice.pack),
            ..joined(choice, Request::of(problem, choice.variant))
        };
        let Ok(recipe) = find("simt").expect("known").recipe(&request) else { return Outcome::Refused };
        let prepared = engine.prepare(recipe).unwrap_or_else(|error| panic!("{choice:?}: {error}"));
        prepared.spoil_workspaces().expect("written");

        let on_device = (a.upload(engine), b.upload(engine), c.upload(engine));
        let bind = |buffer, memory: &DeviceMemory, offset: usize| {
            (buffer, memory.address() + offset as u64, memory.bytes())
        };
        let bindings = [
            bind(Buffer::A, &on_device.0, a.offset()),
            bind(Buffer::B, &on_device.1, b.offset()),
            bind(Buffer::C, &on_device.2, c.offset()),
        ];
        // SAFETY: the matrices have the layouts, alignments and types of the request, and live until they are read below, after the work.
        unsafe { prepared.launch(&bindings) }.unwrap_or_else(|error| panic!("{choice:?}: {error}"));
        let mut found = vec![0_u8; size_of_val(&c.elements[..])];
        // SAFETY: as many bytes on both sides.
        unsafe { on_device.2.read_raw(found.as_mut_ptr().cast(), found.len()) }
            .unwrap_or_else(|error| panic!("{choice:?}: {error}"));

        let view = MatMut::with_origin(&mut c.elements, c.layout, c.origin).expect("it has room");
        reference::multiply::<S>(view, a.view(), b.view(), update).expect("admitted");
        let wanted = bytes(&c.elements);
        let wrong = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
        assert_eq!(wrong, None, "{choice:?}, {:?}: the first byte that differs", prepared.recipe().details());
        Outcome::Right
    }
}

fn joined(choice: &Choice, plain: Request) -> Request {
    let joining = match choice.old {
        Old::Replaced => Joining::Replace,
        Old::Added => Joining::Accumulate,
        Old::Scaled => Joining::<Value>::scale(-2.0, 3.0),
    };
    Request { joining, ..plain }
}

fn bytes<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: elements are plain bytes without padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Programs are compiled side by side, which takes most of the time: some minutes on few cores.
#[test]
fn every_tile_packing_order_edge_store_and_split_is_right_on_a_gpu() {
    let engine = match Engine::open(0) {
        Ok(engine) => engine,
        Err(error) if std::env::var_os("TILEWRIGHT_REQUIRE_GPU").is_none_or(|value| value == "0") => {
            assert!(error.is_unavailable() && error.hint().is_some(), "{error}");
            eprintln!("skipped: {error}");
            return;
        }
        Err(error) => panic!("TILEWRIGHT_REQUIRE_GPU is set, and {error}"),
    };
    let (right, all) = try_menu(&engine, 1);
    let (here, listed) = (engine.gpu(), Gpu::default());
    let has_room = here.limits.shared_memory_per_block_optin >= listed.limits.shared_memory_per_block_optin
        && here.limits.shared_memory_per_sm >= listed.limits.shared_memory_per_sm;
    assert!(right > 0 && (right == all || !has_room));
}

/// The whole of it is executed by the emulator's own tests; here it is the engine that counts.
#[test]
#[cfg(feature = "emulated")]
fn a_part_of_the_menu_is_right_on_the_emulated_driver() {
    const STEP: usize = 40;
    if let Err(error) = crate::Nvrtc::find() {
        return eprintln!("skipped: {error}");
    }
    let gpu = tilewright_arch::Device::find("h200").expect("known");
    let (right, all) = try_menu(&Engine::emulated(gpu.into()).expect("emulated"), STEP);
    assert_eq!(right, all);
}

/// Every so many choices of the menu: how many are right, and how many there are.
fn try_menu(engine: &Engine, step: usize) -> (usize, usize) {
    let choices: Vec<_> = menu::choices(find("simt").expect("known")).into_iter().step_by(step).collect();
    let (next, right) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(choice) = choices.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run(engine, choice);
                    right.fetch_add(usize::from(outcome == Outcome::Right), Ordering::Relaxed);
                }
            });
        }
    });
    let right = right.into_inner();
    eprintln!("{right} products of {}; the others find no room on this GPU", choices.len());
    (right, choices.len())
}
