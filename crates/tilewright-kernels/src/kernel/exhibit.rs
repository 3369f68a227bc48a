//! An exhibit: a small kernel from one input array to one output array.

use crate::{
    argument::{Argument, Buffer, NamedArgument},
    kernel::{
        Kernel,
        launch::{Launch, LocalMemory, Recipe, Symbol},
    },
    refusal::Refusal,
    variant::Variant,
};
use tilewright_core::{DType, SemiringId};

/// The variant of every exhibit: f32; no exhibit uses the semiring.
pub(crate) const F32: &[Variant] = &[Variant::new(SemiringId::PlusTimes, DType::F32)];

/// What an exhibit can be asked for, and how it is launched.
pub struct Exhibit {
    /// Its parameters.
    pub parameters: &'static [Parameter],
    pub(crate) stage: fn(&Settings) -> Stage,
    pub(crate) expected: fn(&Settings, &[f32]) -> Vec<f32>,
    pub(crate) local_memory: LocalMemory,
}

/// A whole number that an exhibit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value unless chosen.
    pub default: u32,
    /// Its smallest and largest value.
    pub range: (u32, u32),
    /// What it means.
    pub meaning: &'static str,
}

/// A value for each parameter of an exhibit, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings(Vec<(&'static str, u32)>);

impl Settings {
    /// The value of a parameter; 0 for a name that the exhibit does not have.
    pub fn get(&self, name: &str) -> u32 {
        self.0.iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| *value)
    }
}

/// One launch of an exhibit.
pub(crate) struct Stage {
    pub grid: [u32; 2],
    pub block: [u32; 2],
    pub constants: Vec<(&'static str, u32)>,
    pub arguments: Vec<(&'static str, Argument)>,
    pub symbols: Vec<Symbol>,
    /// Elements of the input and of the output.
    pub lengths: [usize; 2],
}

impl Stage {
    /// `input, output, n` over `n` threads in blocks of 256.
    pub fn linear(n: u32, lengths: [usize; 2]) -> Self {
        Self {
            grid: [n.div_ceil(256), 1],
            block: [256, 1],
            constants: Vec::new(),
            arguments: vec![INPUT, OUTPUT, ("n", Argument::i32(n as i32))],
            symbols: Vec::new(),
            lengths,
        }
    }

    pub fn constant(mut self, name: &'static str, value: u32) -> Self {
        self.constants.push((name, value));
        self
    }
}

pub(crate) const INPUT: (&str, Argument) = ("input", Argument::Pointer(Buffer::Input));
pub(crate) const OUTPUT: (&str, Argument) = ("output", Argument::Pointer(Buffer::Output));

/// An exhibit with its parameters chosen: one launch between two arrays of f32.
///
/// The output must hold zeros before the launch.
pub struct Showing {
    pub(crate) recipe: Recipe,
    input: usize,
    output: usize,
    exhibit: &'static Exhibit,
    settings: Settings,
}

impl Showing {
    /// The launch.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Elements of [`Buffer::Input`].
    pub fn input(&self) -> usize {
        self.input
    }

    /// Elements of [`Buffer::Output`].
    pub fn output(&self) -> usize {
        self.output
    }

    /// The output for an input of [`Showing::input`] elements, bit for bit.
    pub fn expected(&self, input: &[f32]) -> Vec<f32> {
        (self.exhibit.expected)(&self.settings, input)
    }

    /// The parameters' values.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Exhibit {
    pub(crate) fn show(
        &'static self,
        kernel: &'static Kernel,
        chosen: &[(&str, u32)],
    ) -> Result<Showing, Refusal> {
        let settings = self.settings(kernel, chosen)?;
        let (stage, usual) = ((self.stage)(&settings), (self.stage)(&self.defaults()));
        let variant = kernel.variants[0];
        let mut program = kernel.program(variant, &stage.constants);
        for (name, value) in stage.constants.iter().filter(|constant| !usual.constants.contains(constant)) {
            program.name += &format!(".{}-{value}", name.to_lowercase());
        }
        let arguments =
            stage.arguments.into_iter().map(|(name, value)| NamedArgument { name, value }).collect();
        let launch = Launch {
            symbols: stage.symbols,
            local_memory: self.local_memory,
            ..Launch::new(
                program,
                kernel.entry(),
                [stage.grid[0], stage.grid[1], 1],
                [stage.block[0], stage.block[1], 1],
                arguments,
            )
        };
        let recipe = Recipe {
            details: settings.0.iter().map(|(name, value)| (*name, value.to_string())).collect(),
            ..Recipe::exhibit(kernel, launch)
        };
        let [input, output] = stage.lengths;
        Ok(Showing { recipe, input, output, exhibit: self, settings })
    }

    fn defaults(&self) -> Settings {
        Settings(self.parameters.iter().map(|p| (p.name, p.default)).collect())
    }

    fn settings(&self, kernel: &'static Kernel, chosen: &[(&str, u32)]) -> Result<Settings, Refusal> {
        let known = self.parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        let mut settings = self.defaults();
        for &(name, value) in chosen {
            let Some(i) = self.parameters.iter().position(|p| p.name == name) else {
                return Err(Refusal {
                    kernel: kernel.name,
                    needs: format!("parameters among {known}"),
                    found: format!("{name} is set"),
                    hint: "leave it out".into(),
                });
            };
            let (low, high) = self.parameters[i].range;
            if !(low..=high).contains(&value) {
                return Err(Refusal {
                    kernel: kernel.name,
                    needs: format!("{name} from {low} to {high}"),
                    found: format!("{name} is {value}"),
                    hint: format!("{name} is {}", self.parameters[i].meaning),
                });
            }
            settings.0[i].1 = value;
        }
        Ok(settings)
    }
}
