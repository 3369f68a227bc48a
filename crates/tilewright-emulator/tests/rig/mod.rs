//! Products by one kernel of the catalogue on the emulator, with all checks, against the definition.
#![allow(dead_code)] // Each test program uses a part.

use super::menu;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use tilewright_core::{
    Element, Layout, MatMut, MatRef, Math, Problem, Semiring, Update, Value, reference, semiring::Visit,
};
use tilewright_emulator::tensor_map::{ElementType, Fill, Interleave, RANK, Swizzle, TensorMap};
use tilewright_emulator::{Argument, Finding, FindingKind, Launch, Machine, Program, Texture};
use tilewright_kernels::{
    self as kernels, Alignment, Batch, Buffer, Form, Kernel, Recipe, Request, Scalar, Variant,
};
use tilewright_toolchain::{Input, Nvrtc, Source};

/// How the elements of a matrix lie.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    Rows,
    Columns,
    /// By rows, with three elements of someone else between them.
    Gaps,
    /// By columns, likewise.
    ColumnGaps,
    /// By rows, the last one first.
    Reversed,
    /// By rows, each of which begins at a multiple of 128 elements.
    Lines,
}

impl Order {
    fn layout(self, rows: usize, cols: usize) -> Layout {
        match self {
            Self::Rows => Layout::row_major(rows, cols),
            Self::Columns => Layout::col_major(rows, cols),
            Self::Gaps => Layout::strided(rows, cols, cols as isize + 3, 1),
            Self::ColumnGaps => Layout::strided(rows, cols, 1, rows as isize + 3),
            Self::Reversed => Layout::strided(rows, cols, -(cols as isize), 1),
            Self::Lines => Layout::strided(rows, cols, cols.next_multiple_of(128) as isize, 1),
        }
    }
}

/// What happens to the old C.
#[derive(Clone, Copy, Debug)]
pub enum Joining {
    Replace,
    Accumulate,
    /// `-2 A B + 3 C`: plus-times alone.
    Scale,
}

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub kernel: &'static Kernel,
    pub variant: Variant,
    /// M, N, K.
    pub size: [usize; 3],
    /// Of A, B and C.
    pub orders: [Order; 3],
    pub joining: Joining,
    pub products: usize,
    pub tile: Option<[u32; 6]>,
    pub splits: Option<u32>,
    pub pack: Option<[bool; 2]>,
    pub form: Form,
    /// Of the GPU that the recipe is for.
    pub multiprocessors: Option<u32>,
    /// Whether no element has another sign than the others.
    pub one_sign: bool,
    pub math: Math,
}

impl Case {
    pub fn new(kernel: &'static Kernel, variant: Variant, size: [usize; 3]) -> Self {
        let (orders, joining) = ([Order::Rows; 3], Joining::Replace);
        let (tile, splits, pack, multiprocessors) = (None, None, None, None);
        let (products, form, one_sign) = (1, Form::Specialised, false);
        Self {
            kernel,
            variant,
            size,
            orders,
            joining,
            products,
            tile,
            splits,
            pack,
            form,
            multiprocessors,
            one_sign,
            math: Math::Full,
        }
    }
}

/// The names of the programs of a case's recipe.
pub fn program_names(case: &Case) -> Vec<String> {
    let [m, n, k] = case.size;
    let place = |which, (rows, cols)| {
        let operand = Operand::<f64>::new(case, which, (rows, cols));
        (operand.layout, operand.alignment())
    };
    let [(a, align_a), (b, align_b), (c, align_c)] = [place(0, (m, k)), place(1, (k, n)), place(2, (m, n))];
    let request = Request {
        alignment: Alignment { a: align_a, b: align_b, c: align_c },
        tile: case.tile,
        splits: case.splits,
        pack: case.pack,
        form: case.form,
        ..request(case, Problem::new(a, b, c).expect("shapes fit"))
    };
    let recipe = case.kernel.recipe(&request).expect("accepted");
    recipe.launches().iter().map(|launch| launch.program().name().to_owned()).collect()
}

/// What came of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is right.
    Right,
    /// The kernel does not take such products.
    Refused,
    /// The PTX is not part of the catalogue, and there is no compiler.
    NoPtx,
}

/// Runs the case; panics where a result is wrong or a check finds anything.
pub fn run(case: &Case) -> Outcome {
    case.variant
        .semiring
        .visit_giving(case.variant.dtype, case.variant.output(), Typed(case))
        .expect("a variant is defined")
}

struct Typed<'a>(&'a Case);

impl Visit for Typed<'_> {
    type Output = Outcome;

    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Outcome {
        let update = S::BUILT_IN.expect("a built-in semiring").update(joining(self.0));
        // Only sums have factors.
        update.map_or(Outcome::Refused, |update| check::<S>(self.0, &update))
    }
}

fn check<S: Semiring<Elem: Element, Out: Element>>(case: &Case, update: &Update<S>) -> Outcome {
    let [m, n, k] = case.size;
    let a = Operand::<S::Elem>::new(case, 0, (m, k));
    let b = Operand::<S::Elem>::new(case, 1, (k, n));
    let c = Operand::<S::Out>::new(case, 2, (m, n));
    let request = Request {
        alignment: Alignment { a: a.alignment(), b: b.alignment(), c: c.alignment() },
        batch: match case.products {
            1 => Batch::ONE,
            count => Batch { count, a: a.distance, b: b.distance, c: c.distance },
        },
        tile: case.tile,
        splits: case.splits,
        pack: case.pack,
        form: case.form,
        ..request(case, Problem::new(a.layout, b.layout, c.layout).expect("shapes fit"))
    };
    let Ok(recipe) = case.kernel.recipe(&request) else { return Outcome::Refused };

    let mut wanted = c.elements.clone();
    for product in 0..case.products {
        let (a, b) = (a.matrix(product), b.matrix(product));
        let origin = c.origin + product * c.distance.unsigned_abs();
        let c = MatMut::with_origin(&mut wanted, c.layout, origin).expect("it has room");
        reference::multiply::<S>(c, a, b, update).expect("admitted");
    }
    let mut arrays = vec![a.array("A"), b.array("B"), c.array("C")];
    let Some(found) = execute(&recipe, &mut arrays, &place).then(|| &arrays[2].bytes) else {
        return Outcome::NoPtx;
    };
    let (wanted, size) = (bytes(&wanted), size_of::<S::Out>());
    let wrong = found.chunks(size).zip(wanted.chunks(size));
    let wrong = wrong.enumerate().find(|(_, (found, wanted))| found != wanted);
    assert!(wrong.is_none(), "{case:?}, {:?}: element, found and wanted: {wrong:?}", recipe.details());
    Outcome::Right
}

fn request(case: &Case, problem: Problem) -> Request {
    let mut plain = Request::of(problem, case.variant);
    if let Some(multiprocessors) = case.multiprocessors {
        plain.gpu.multiprocessors = multiprocessors;
    }
    plain.joining = joining(case);
    plain.math = case.math;
    plain
}

fn joining(case: &Case) -> tilewright_core::Joining<Value> {
    match case.joining {
        Joining::Replace => tilewright_core::Joining::Replace,
        Joining::Accumulate => tilewright_core::Joining::Accumulate,
        Joining::Scale => tilewright_core::Joining::<Value>::scale(-2.0, 3.0),
    }
}

fn place(buffer: Buffer) -> Option<usize> {
    Some(match buffer {
        Buffer::A => 0,
        Buffer::B => 1,
        Buffer::C => 2,
        Buffer::Workspace(index) => 3 + index,
        Buffer::Input | Buffer::Output | Buffer::Bias | Buffer::ScaleA | Buffer::ScaleB => return None,
    })
}

/// Equally shaped matrices, one behind the other.
struct Operand<T> {
    elements: Vec<T>,
    layout: Layout,
    /// The index of element (0, 0) of the first.
    origin: usize,
    /// From one matrix to the next.
    distance: isize,
}

impl<T: Element> Operand<T> {
    fn new(case: &Case, which: usize, (rows, cols): (usize, usize)) -> Self {
        let layout = case.orders[which].layout(rows, cols);
        let (low, high) = layout.span().expect("small").unwrap_or((0, -1));
        let distance = high - low + 1;
        let count = distance.unsigned_abs() * case.products;
        let elements = menu::numbers(count, which, case.variant, case.one_sign);
        Self { elements, layout, origin: low.unsigned_abs(), distance }
    }

    fn matrix(&self, product: usize) -> MatRef<'_, T> {
        let origin = self.origin + product * self.distance.unsigned_abs();
        MatRef::with_origin(&self.elements, self.layout, origin).expect("it has room")
    }

    fn alignment(&self) -> u64 {
        1 << (self.origin * size_of::<T>()).trailing_zeros().min(8)
    }

    fn array(&self, name: &'static str) -> Array {
        Array { name, bytes: bytes(&self.elements), origin: self.origin * size_of::<T>() }
    }
}

fn bytes<T: Element>(elements: &[T]) -> Vec<u8> {
    // SAFETY: elements are plain bytes without padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }.to_vec()
}

/// An array of the host.
pub struct Array {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub origin: usize,
}

/// Runs a recipe with all checks, none of which may find anything, on arrays that workspaces are added to; false where there is no PTX.
pub fn execute(recipe: &Recipe, arrays: &mut Vec<Array>, place: &dyn Fn(Buffer) -> Option<usize>) -> bool {
    let programs: Option<Vec<_>> = recipe.launches().iter().map(|launch| program(launch.program())).collect();
    let Some(programs) = programs else { return false };
    for &bytes in recipe.workspaces() {
        // Whatever it holds must not matter: these are NaN, and -1.
        arrays.push(Array { name: "workspace", bytes: vec![0xff; bytes as usize], origin: 0 });
    }
    for (launch, program) in recipe.launches().iter().zip(programs) {
        let mut machine = Machine::new(program);
        let upload = |array: &Array| {
            let pointer = machine.allocate_named(array.name, array.bytes.len() as u64).expect("small arrays");
            machine.write(pointer, &array.bytes).expect("it has room");
            pointer
        };
        let pointers: Vec<_> = arrays.iter().map(upload).collect();
        let mut extents =
            Launch::new(launch.grid(), launch.block()).dynamic_shared(launch.dynamic_shared_memory());
        if let Some(cluster) = launch.shape().cluster {
            extents = extents.cluster(cluster);
        }
        for argument in launch.arguments() {
            let index = |buffer| place(buffer).expect("the buffer is there");
            extents = match &argument.value {
                kernels::Argument::Pointer(buffer) => {
                    let index = index(*buffer);
                    extents.arg(pointers[index].offset(arrays[index].origin as i64))
                }
                kernels::Argument::Texture(buffer) => {
                    extents.arg(machine.texture(texture(&arrays[index(*buffer)].bytes)))
                }
                kernels::Argument::Scalar(Scalar::I32(x)) => extents.arg(*x),
                kernels::Argument::Scalar(Scalar::I64(x)) => extents.arg(*x),
                kernels::Argument::Scalar(Scalar::F32(x)) => extents.arg(*x),
                kernels::Argument::Scalar(Scalar::F64(x)) => extents.arg(*x),
                kernels::Argument::Bytes { bytes, .. } => extents.arg(Argument::bytes(bytes)),
                kernels::Argument::TensorMap(map) => extents.arg(Argument::bytes(&map.0)),
                kernels::Argument::Tensor(tensor) => {
                    let index = index(tensor.memory);
                    let address = pointers[index].offset(arrays[index].origin as i64).address();
                    extents.arg(Argument::bytes(&encoded(tensor, address)))
                }
            };
        }
        for symbol in launch.symbols() {
            machine.write_symbol(symbol.name, &symbol.bytes).expect("the module has it");
        }
        let report = machine.launch(launch.entry(), &extents).expect("a launch");
        let name = launch.program().name();
        assert!(report.error.is_none(), "{name}: {:?}", report.error);
        // Tiles of 224 columns across are copied in boxes of 64.
        let is_known = |one: &Finding| one.kind == FindingKind::UnreadCopy && name.contains("x224.");
        let finding = report.findings.iter().find(|one| !is_known(one));
        assert!(finding.is_none(), "{name}: {}", finding.expect("there is one"));
        for (pointer, array) in pointers.into_iter().zip(arrays.iter_mut()) {
            array.bytes = machine.download(pointer, array.bytes.len()).expect("it is there");
        }
    }
    true
}

/// The map of a tensor, as the emulator encodes it.
fn encoded(tensor: &kernels::Tensor, address: u64) -> [u8; 128] {
    use kernels::TensorElement as E;
    let element = match tensor.element {
        E::U8 => ElementType::U8,
        E::F16 => ElementType::F16,
        E::Bf16 => ElementType::Bf16,
        E::F32 => ElementType::F32,
        E::Tf32 => ElementType::Tf32,
        E::F64 => ElementType::F64,
        E::I32 => ElementType::I32,
    };
    let swizzle = match tensor.swizzle {
        kernels::Swizzle::None => Swizzle::None,
        kernels::Swizzle::B32 => Swizzle::Bytes32,
        kernels::Swizzle::B64 => Swizzle::Bytes64,
        kernels::Swizzle::B128 => Swizzle::Bytes128,
    };
    let map = TensorMap {
        element,
        rank: tensor.extents.len(),
        address,
        extents: filled(&tensor.extents, 1),
        strides: filled(&tensor.strides, 0),
        boxes: filled(&tensor.tile, 1),
        steps: [1; RANK],
        interleave: Interleave::None,
        swizzle,
        fill: Fill::Zeros,
        im2col: None,
    };
    map.check().expect("a tensor that CUDA takes");
    map.encode()
}

/// A list, and `rest` behind it.
fn filled<T: Copy, const N: usize>(list: &[T], rest: T) -> [T; N] {
    std::array::from_fn(|dimension| list.get(dimension).copied().unwrap_or(rest))
}

/// Floats that are fetched by index: outside of them are zeros.
fn texture(bytes: &[u8]) -> Texture {
    let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let floats: Vec<f32> = bytes.chunks_exact(4).map(float).collect();
    Texture::new([floats.len(), 1, 1], &floats)
}

/// A program, made by the thread that asks for it first; threads that ask for others do not wait.
type Made = Arc<OnceLock<Option<Program>>>;

static READ: LazyLock<Mutex<HashMap<kernels::Program, Made>>> = LazyLock::new(Mutex::default);

/// A program of the catalogue, read once: its own PTX, or what the compiler makes for the default target.
fn program(program: &kernels::Program) -> Option<Program> {
    let mut read = READ.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let made = Arc::clone(read.entry(program.clone()).or_default());
    drop(read);
    let make = || {
        let ptx = program.shipped_ptx().map(str::to_owned).or_else(|| compiled(program))?;
        Some(Program::new(&ptx).expect("PTX that can be read"))
    };
    made.get_or_init(make).clone()
}

fn compiled(program: &kernels::Program) -> Option<String> {
    if let Err(missing) = Nvrtc::find() {
        assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{missing}");
        return None;
    }
    let headers = program.headers();
    let source = Source { name: program.file(), text: program.source(), headers: &headers };
    let architecture = program.architecture().max("sm_90".parse().expect("known"));
    Some(tilewright_toolchain::ptx(Input::Source(source), architecture).expect("compiles"))
}
