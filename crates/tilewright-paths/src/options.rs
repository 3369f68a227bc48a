//! What a caller may choose, never what the answer is: the choices of products.

use tilewright_core::{Cancel, Error};
use tilewright_cpu::Options;

pub(crate) fn check_cancelled(options: &Options<'_>) -> Result<(), Error> {
    options.cancel.map_or(Ok(()), Cancel::check)
}

/// Tells of work that is finished, in the unit of [`Plan::work`](crate::Plan::work).
pub(crate) fn tell(options: &Options<'_>, work: f64) {
    if let Some(progress) = options.progress {
        progress(work as u64);
    }
}
