//! What a launch that writes C does behind the sums: a bias, an activation.

use crate::{
    argument::{Argument, Buffer},
    request::Request,
};
use tilewright_core::{Activation, Epilogue};

/// The epilogue of a launch: constants of its program, arguments, and what a plan says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Finish {
    epilogue: Epilogue<isize>,
    /// Whether the caller's columns of C are rows as the kernel sees it.
    is_transposed: bool,
}

impl Finish {
    /// What was asked for, of a kernel that may compute the transpose of C.
    pub fn of(request: &Request, is_transposed: bool) -> Self {
        Self { epilogue: request.epilogue, is_transposed }
    }

    /// Whether nothing follows.
    pub fn is_none(&self) -> bool {
        self.epilogue.is_none()
    }

    /// What `finish.cuh` is compiled with.
    pub fn constants(&self) -> [(&'static str, u32); 2] {
        let activation = match self.epilogue.activation {
            Activation::None => 0,
            Activation::Relu => 1,
            Activation::Gelu => 2,
        };
        [("BIAS", self.epilogue.bias.is_some().into()), ("ACTIVATION", activation)]
    }

    /// The bias and its distances along C as the kernel sees it.
    pub fn arguments(&self) -> [(&'static str, Argument); 3] {
        let (buffer, stride) = match self.epilogue.bias {
            Some(stride) => (Buffer::Bias, stride as i64),
            None => (Buffer::C, 0), // not read
        };
        let [row, col] = if self.is_transposed { [stride, 0] } else { [0, stride] };
        let bias = Argument::Pointer(buffer);
        [("bias", bias), ("bias_row", Argument::i64(row)), ("bias_col", Argument::i64(col))]
    }

    /// What tells the program from the one without.
    pub fn suffix(&self) -> String {
        let bias = if self.epilogue.bias.is_some() { ".bias" } else { "" };
        match self.epilogue.activation {
            Activation::None => bias.into(),
            activation => format!("{bias}.{activation}"),
        }
    }

    /// The row of a plan; none where nothing follows.
    pub fn detail(&self, place: &str) -> Option<(&'static str, String)> {
        (!self.is_none()).then(|| ("epilogue", format!("{}, {place}", self.epilogue.name())))
    }
}
