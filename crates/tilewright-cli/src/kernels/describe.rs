//! One kernel.

use super::{list::Line, preconditions};
use crate::wrapping;
use serde::Serialize;
use tilewright_kernels::{Argument, Kernel, Launch, Recipe, Scalar};

/// The JSON object of `kernels NAME`.
#[derive(Serialize)]
pub struct Description {
    schema: u32,
    #[serde(flatten)]
    line: Line,
    teaches: &'static str,
    file: &'static str,
    /// The launches of a sample product, or with the exhibit's defaults.
    sample: Option<Sample>,
    preconditions: Vec<String>,
    /// What an exhibit can be asked for.
    parameters: Vec<Choice>,
}

#[derive(Serialize)]
struct Sample {
    /// `1024x1024x1024`, or the exhibit's parameters.
    of: String,
    details: Vec<(&'static str, String)>,
    workspace_bytes: u64,
    launches: Vec<SampleLaunch>,
}

#[derive(Serialize)]
struct SampleLaunch {
    entry: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_memory_bytes: u32,
    /// Names and types, in order.
    arguments: Vec<(&'static str, &'static str)>,
    symbols: Vec<&'static str>,
}

#[derive(Serialize)]
struct Choice {
    name: &'static str,
    default: u32,
    least: u32,
    most: u32,
    meaning: &'static str,
}

impl Description {
    pub fn of(kernel: &'static Kernel) -> Self {
        let parameters = kernel.exhibit().map_or(&[][..], |exhibit| exhibit.parameters);
        Self {
            schema: 1,
            line: Line::of(kernel),
            teaches: kernel.teaches,
            file: kernel.file,
            sample: sample(kernel),
            preconditions: preconditions::of(kernel),
            parameters: parameters
                .iter()
                .map(|p| Choice {
                    name: p.name,
                    default: p.default,
                    least: p.range.0,
                    most: p.range.1,
                    meaning: p.meaning,
                })
                .collect(),
        }
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, text: &str| out += &wrapping::row(name, text, 13);
        row("kernel", &format!("{} ({}): {}", self.line.name, self.line.family, self.line.summary));
        row("teaches", self.teaches);
        if self.parameters.is_empty() {
            row("computes", &self.line.variants.join(", "));
        }
        row("file", self.file);
        for (i, p) in self.parameters.iter().enumerate() {
            let text = format!("{} = {}: {}, from {} to {}", p.name, p.default, p.meaning, p.least, p.most);
            row(if i == 0 { "parameters" } else { "" }, &text);
        }
        for (i, need) in self.preconditions.iter().enumerate() {
            row(if i == 0 { "needs" } else { "" }, need);
        }
        if let Some(sample) = &self.sample {
            sample.rows(&mut row);
        }
        out
    }
}

impl Sample {
    fn new(of: String, recipe: &Recipe) -> Self {
        Self {
            of,
            details: recipe.details().to_vec(),
            workspace_bytes: recipe.workspaces().iter().sum(),
            launches: recipe.launches().iter().map(SampleLaunch::of).collect(),
        }
    }

    fn rows(&self, row: &mut impl FnMut(&str, &str)) {
        row("for example", &self.of);
        for (name, value) in &self.details {
            row("", &format!("{name}: {value}"));
        }
        if self.workspace_bytes > 0 {
            row("", &format!("workspace: {} bytes", self.workspace_bytes));
        }
        for launch in &self.launches {
            let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
            let shared = match launch.dynamic_shared_memory_bytes {
                0 => String::new(),
                bytes => format!(", {bytes} bytes of dynamic shared memory"),
            };
            row("launch", &format!("{}<<<({gx}, {gy}, {gz}), ({bx}, {by}, {bz})>>>{shared}", launch.entry));
            let arguments: Vec<String> =
                launch.arguments.iter().map(|(name, t)| format!("{t} {name}")).collect();
            row("", &format!("({})", arguments.join(", ")));
            if !launch.symbols.is_empty() {
                row("", &format!("after setting {}", launch.symbols.join(", ")));
            }
        }
    }
}

impl SampleLaunch {
    fn of(launch: &Launch) -> Self {
        Self {
            entry: launch.entry(),
            grid: launch.grid(),
            block: launch.block(),
            dynamic_shared_memory_bytes: launch.dynamic_shared_memory(),
            arguments: launch.arguments().iter().map(|a| (a.name, type_of(&a.value))).collect(),
            symbols: launch.symbols().iter().map(|s| s.name).collect(),
        }
    }
}

fn sample(kernel: &'static Kernel) -> Option<Sample> {
    if let Some((request, recipe)) = preconditions::sample(kernel) {
        let p = request.problem;
        let of = format!("{}x{}x{}, {} on {}", p.m(), p.n(), p.k(), request.semiring, request.dtype);
        return Some(Sample::new(of, &recipe));
    }
    kernel.show(&[]).ok().map(|showing| Sample::new("its defaults".into(), showing.recipe()))
}

fn type_of(value: &Argument) -> &'static str {
    match value {
        Argument::Pointer(_) => "pointer",
        Argument::Texture(_) => "texture",
        Argument::Scalar(Scalar::I32(_)) => "i32",
        Argument::Scalar(Scalar::I64(_)) => "i64",
        Argument::Scalar(Scalar::F32(_)) => "f32",
        Argument::Scalar(Scalar::F64(_)) => "f64",
        Argument::Bytes { .. } => "bytes",
        Argument::TensorMap(_) | Argument::Tensor(_) => "tensor map",
    }
}
