//! Kernels of the catalogue: their recipes say how to launch them.

use super::{Argument, Case, Launch, Request, argument::of_recipe, check_repeated, unsupported};
use crate::{array::Array, compile, model::SourceText};
use tilewright_arch::{Blocks, Gpu};
use tilewright_core::{DType, Error, Hint, Joining, Layout, Problem, SemiringId, Setting, Value};
use tilewright_kernels as kernels;
use tilewright_kernels::{Buffer, Kernel, Recipe, Role};
use tilewright_toolchain::ProgramPtx;

/// Sides of the square product that is explained unless sizes are given; `single-block` takes the second.
const SIDES: [usize; 2] = [256, 16];

impl Case {
    /// A kernel of the catalogue.
    ///
    /// Products take M, N and K, or matrices A, B and C; alpha and beta; `semiring` and `dtype`. Exhibits of the gallery take
    /// their own parameters.
    ///
    /// # Errors
    /// For arguments that the kernel does not take, sizes that it refuses, and without a compiler.
    pub fn of_kernel(kernel: &'static Kernel, request: &Request<'_>) -> Result<Self, Error> {
        if request.grid.or(request.block).or(request.cluster).is_some()
            || request.dynamic_shared_memory.is_some()
            || request.blocks == Blocks::Cooperative
        {
            let why = format!("the recipe of {} chooses them", kernel.name);
            return Err(unsupported(
                "a grid, a block, dynamic shared memory or a cooperative launch of one's own",
                why,
                "leave them out, or give a file",
            ));
        }
        check_repeated(&request.arguments, |_| None)?;
        match kernel.exhibit() {
            Some(_) => exhibit(kernel, request),
            None => product(kernel, request),
        }
    }

    /// A product of zeros by a recipe, whose matrices are packed.
    ///
    /// # Errors
    /// Without a compiler, if a program does not come with the catalogue.
    pub(crate) fn of_recipe(
        recipe: &Recipe,
        dtype: DType,
        problem: &Problem,
        gpu: &Gpu,
    ) -> Result<Self, Error> {
        let layouts = [problem.a(), problem.b(), problem.c()];
        let zeros = |(name, layout): (&&str, Layout)| Array::zeros(name, dtype, &[layout.rows, layout.cols]);
        with_workspaces(recipe, dtype, gpu, MATRICES.iter().zip(layouts).map(zeros).collect())
    }
}

fn exhibit(kernel: &'static Kernel, request: &Request<'_>) -> Result<Case, Error> {
    let mut chosen: Vec<(&str, u32)> = Vec::new();
    for (name, text) in &request.arguments {
        let value = text
            .parse()
            .map_err(|_| unsupported(format!("the argument {name}={text}"), "a whole number is needed", ""));
        match value {
            // What it does not take is for the other kernel.
            Ok(value) if request.shares_arguments && kernel.show(&[(name.as_str(), value)]).is_err() => {}
            Err(_) if request.shares_arguments => {}
            value => chosen.push((name, value?)),
        }
    }
    let showing = kernel.show(&chosen)?;
    let [input, output] = [showing.input(), showing.output()].map(|n| shape(kernel, showing.settings(), n));
    let arrays = vec![
        Array::random("input", DType::F32, &[input.0, input.1]),
        Array::zeros("output", DType::F32, &[output.0, output.1]),
    ];
    let place = |buffer| match buffer {
        Buffer::Input => Some(0),
        Buffer::Output => Some(1),
        _ => None,
    };
    case(kernel, showing.recipe(), &request.gpu, arrays, &place)
}

/// Rows and columns of an array of `elements` elements of an exhibit: most are vectors, some matrices.
fn shape(kernel: &Kernel, settings: &kernels::Settings, elements: usize) -> (usize, usize) {
    let named = |name: &str| settings.get(name) as usize;
    let rows = match kernel.name {
        name if name.starts_with("transpose-") => named("n"),
        "pitched-rows" => named("rows"),
        "array-of-structs" if elements > named("n") => named("n"),
        "struct-of-arrays" if elements > named("n") => elements / named("n").max(1),
        _ => 1,
    };
    if rows > 0 && elements.is_multiple_of(rows) { (rows, elements / rows) } else { (1, elements) }
}

fn product(kernel: &'static Kernel, request: &Request<'_>) -> Result<Case, Error> {
    let asked = Product::new(kernel, request)?;
    let sides: &[usize] = if asked.has_size { &SIDES[..1] } else { &SIDES };
    let mut refused = None;
    for &side in sides {
        match asked.case(kernel, request, side) {
            Err(error) if !error.is_unavailable() && refused.is_none() => refused = Some(error),
            done => return done,
        }
    }
    Err(refused.unwrap_or_else(|| unsupported(kernel.name, "no size was tried", "")))
}

/// A product as the arguments ask for it.
struct Product {
    semiring: SemiringId,
    dtype: DType,
    /// M, N, K.
    extents: [Option<usize>; 3],
    /// A, B, C.
    matrices: [Option<Array>; 3],
    /// alpha, beta.
    factors: [Option<f64>; 2],
    has_size: bool,
}

const EXTENTS: [&str; 3] = ["M", "N", "K"];
const MATRICES: [&str; 3] = ["A", "B", "C"];
const FACTORS: [&str; 2] = ["alpha", "beta"];

impl Product {
    fn new(kernel: &'static Kernel, request: &Request<'_>) -> Result<Self, Error> {
        let first = kernel.variants.first();
        let mut asked = Self {
            semiring: first.map_or(SemiringId::PlusTimes, |v| v.semiring),
            dtype: first.map_or(DType::F32, |v| v.dtype),
            extents: [None; 3],
            matrices: [None, None, None],
            factors: [None; 2],
            has_size: false,
        };
        for (name, text) in &request.arguments {
            let wrong = |why: &str| unsupported(format!("the argument {name}={text}"), why, "");
            let index = |names: &[&str]| names.iter().position(|n| n == name);
            if let Some(i) = index(&EXTENTS) {
                asked.extents[i] = Some(text.parse().map_err(|_| wrong("an extent is a whole number"))?);
            } else if let Some(i) = index(&FACTORS) {
                asked.factors[i] = Some(text.parse().map_err(|_| wrong("a number is needed"))?);
            } else if let Some(i) = index(&MATRICES) {
                let size = |name: &str| {
                    let given = request.arguments.iter().find(|(other, _)| other == name);
                    given.and_then(|(_, text)| text.parse().ok())
                };
                let array = Array::parse_with(name, text, &size).unwrap_or_else(|| (request.load)(text))?;
                asked.matrices[i] = Some(Array { name: name.clone(), ..array });
            } else if name == "semiring" {
                asked.semiring = text.parse()?;
            } else if name == "dtype" {
                asked.dtype = text.parse()?;
            } else if !request.shares_arguments {
                let known = "M, N, K, A, B, C, alpha, beta, semiring and dtype";
                return Err(unsupported(
                    format!("the argument {name}"),
                    "products have no such argument",
                    format!("they take {known}"),
                ));
            }
        }
        if !request.arguments.iter().any(|(name, _)| name == "dtype")
            && let Some(array) = asked.matrices.iter().flatten().next()
        {
            asked.dtype = array.element.dtype().ok_or_else(|| {
                let why = format!("products have no elements of type {}", array.element);
                unsupported(format!("the matrix {}", array.name), why, "")
            })?;
        }
        asked.has_size =
            asked.extents.iter().any(Option::is_some) || asked.matrices.iter().any(Option::is_some);
        if request.shares_arguments && !asked.has_size {
            let why = "the sizes of its product are not given, so that it would compute something else";
            let size = |hint: Hint, name| hint.say(" ").set_to(Setting::Argument, format!("{name}=64"));
            let hint = Hint::from("give them beside the arguments of the other kernel, as in");
            let hint = ["M", "N", "K"].into_iter().fold(hint, size);
            return Err(unsupported(format!("a comparison with {}", kernel.name), why, hint));
        }
        Ok(asked)
    }

    /// M, N and K: as given, as the matrices have them, or `side`.
    fn size(&self, side: usize) -> [usize; 3] {
        let [a, b, c] = &self.matrices;
        let rows = |array: &Option<Array>| array.as_ref().map(Array::rows);
        let columns = |array: &Option<Array>| array.as_ref().map(Array::columns);
        let [m, n, k] = self.extents;
        [
            m.or(rows(a)).or(rows(c)).unwrap_or(side),
            n.or(columns(b)).or(columns(c)).unwrap_or(side),
            k.or(columns(a)).or(rows(b)).unwrap_or(side),
        ]
    }

    fn case(&self, kernel: &'static Kernel, request: &Request<'_>, side: usize) -> Result<Case, Error> {
        let [m, n, k] = self.size(side);
        let layouts = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
        let problem = Problem::new(layouts[0], layouts[1], layouts[2])?;
        let mut wanted = kernels::Request::new(problem, self.semiring, self.dtype);
        wanted.gpu = request.gpu;
        if self.factors != [None; 2] {
            let [alpha, beta] = self.factors.map(|factor| factor.map(Value::Float));
            wanted.joining = Joining::Scale { alpha: alpha.unwrap_or(self.semiring.one()), beta };
        }
        let recipe = kernels::select(&wanted, Some(kernel), &ProgramPtx::exists)?.recipe;
        if recipe.launches().is_empty() {
            return Err(unsupported("an empty product", "nothing is launched for it", "choose larger sizes"));
        }
        let mut arrays = Vec::new();
        for ((name, layout), given) in MATRICES.iter().zip(layouts).zip(&self.matrices) {
            arrays.push(match given {
                Some(array)
                    if (array.rows(), array.columns(), array.element)
                        == (layout.rows, layout.cols, self.dtype.into()) =>
                {
                    array.clone()
                }
                // A kernel of one's own may take the same elements as a vector.
                Some(array)
                    if request.shares_arguments
                        && array.element == self.dtype.into()
                        && array.len() == layout.rows * layout.cols =>
                {
                    Array { shape: vec![layout.rows, layout.cols], ..array.clone() }
                }
                Some(array) => {
                    let why = format!(
                        "it is {} of {} x {}, and {} of {} x {} is needed",
                        array.element,
                        array.rows(),
                        array.columns(),
                        self.dtype,
                        layout.rows,
                        layout.cols
                    );
                    return Err(unsupported(
                        format!("the matrix {name}"),
                        why,
                        "check M, N, K, dtype and the other matrices",
                    ));
                }
                None if *name == "C" => Array::zeros(name, self.dtype, &[layout.rows, layout.cols]),
                None => Array::random(name, self.dtype, &[layout.rows, layout.cols]),
            });
        }
        let mut case = with_workspaces(&recipe, self.dtype, &request.gpu, arrays)?;
        case.notes.insert(
            0,
            format!(
                "{} on {}: C ({m} x {n}) from A ({m} x {k}) and B ({k} x {n})",
                self.semiring, self.dtype
            ),
        );
        Ok(case)
    }
}

/// A product of A, B and C, in this order.
fn with_workspaces(recipe: &Recipe, dtype: DType, gpu: &Gpu, mut arrays: Vec<Array>) -> Result<Case, Error> {
    for (i, &bytes) in recipe.workspaces().iter().enumerate() {
        arrays.push(workspace(i, dtype, bytes));
    }
    let place = |buffer| match buffer {
        Buffer::A => Some(0),
        Buffer::B => Some(1),
        Buffer::C => Some(2),
        Buffer::Workspace(i) => Some(3 + i),
        _ => None,
    };
    case(recipe.kernel(), recipe, gpu, arrays, &place)
}

fn workspace(index: usize, dtype: DType, bytes: u64) -> Array {
    let elements = (bytes as usize).div_ceil(dtype.size());
    Array::zeros(&format!("workspace {index}"), dtype, &[elements])
}

fn case(
    kernel: &'static Kernel,
    recipe: &Recipe,
    gpu: &Gpu,
    arrays: Vec<Array>,
    place: &dyn Fn(Buffer) -> Option<usize>,
) -> Result<Case, Error> {
    let mut launches = Vec::new();
    // The kernel itself is explained, whatever comes behind it.
    let last = recipe.launches().iter().rposition(|launch| launch.role() == Role::Product);
    let steps = &recipe.launches()[..=last.unwrap_or(recipe.launches().len().saturating_sub(1))];
    let mut notes: Vec<String> =
        recipe.details().iter().map(|(name, value)| format!("{name}: {value}")).collect();
    for (i, step) in steps.iter().enumerate() {
        let is_explained = i + 1 == steps.len();
        let code = compile::program(step.program(), step.entry(), gpu, is_explained)?;
        if is_explained {
            notes.extend(code.note);
        }
        let headers = step.program().headers();
        let sources = [(step.program().file(), step.program().source())].into_iter().chain(headers);
        let arguments: Option<Vec<Argument>> =
            step.arguments().iter().map(|a| of_recipe(&a.value, place)).collect();
        launches.push(Launch {
            ptx: code.ptx,
            sources: sources
                .map(|(name, text)| SourceText { name: name.into(), text: text.into() })
                .collect(),
            entry: step.entry().into(),
            shape: *step.shape(),
            textures: Vec::new(),
            surfaces: Vec::new(),
            arguments: arguments
                .ok_or_else(|| unsupported(kernel.name, "its recipe names a buffer that is not there", ""))?,
            symbols: step.symbols().iter().map(|s| (s.name.to_owned(), s.bytes.clone())).collect(),
            variables: Vec::new(),
            resources: code.resources,
            assembler_refusal: None,
        });
    }
    if steps.len() > 1 {
        let names: Vec<&str> = steps[..steps.len() - 1].iter().map(|step| step.entry()).collect();
        notes.push(format!("launched before it and not counted: {}", names.join(", ")));
    }
    Ok(Case {
        name: kernel.name.into(),
        launches,
        arrays,
        links: Vec::new(),
        notes,
        compiler_warnings: Vec::new(),
    })
}
