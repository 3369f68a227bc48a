//! Matrices that arguments name. What comes through a pipe is read once, for both kernels of a comparison.

use crate::{args::Explain, failure::Failure, pipe};
use std::{cell::RefCell, collections::HashMap, path::Path};
use tilewright::{
    Error,
    files::{self, ReadOptions, Spec},
};
use tilewright_explain::Array;

#[derive(Default)]
pub struct Matrices {
    from_pipes: RefCell<HashMap<String, Array>>,
}

impl Matrices {
    /// The matrix of a file, as a kernel sees it: row-major and packed.
    pub fn load(&self, name: &str) -> Result<Array, Error> {
        let known = self.from_pipes.borrow().get(name).cloned();
        if let Some(array) = known {
            return Ok(array);
        }
        let spec = Spec::parse(name)?;
        let from_pipe = pipe::is_pipe(spec.path());
        let input = files::read(&spec, &ReadOptions::default())?;
        let array = Array::from_matrix(name, input.as_ref());
        if from_pipe {
            self.from_pipes.borrow_mut().insert(name.into(), array.clone());
        }
        Ok(array)
    }
}

/// Refuses one pipe for two inputs.
pub fn check_pipes(args: &Explain) -> Result<(), Failure> {
    let specs: Vec<Option<Spec>> = args.arguments.iter().map(|(_, value)| Spec::parse(value).ok()).collect();
    let matrices = args.arguments.iter().zip(&specs);
    let matrices = matrices.map(|((name, _), spec)| (name.as_str(), spec.as_ref().map(Spec::path)));
    let kernels = [("the kernel", Some(args.kernel.as_path())), ("--compare", args.compare.as_deref())];
    let inputs: Vec<(&str, Option<&Path>)> = kernels.into_iter().chain(matrices).collect();
    pipe::check(&inputs)
}
