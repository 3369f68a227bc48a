//! The request of a test that leaves everything but the arguments to the case.

use tilewright_core::Error;
use tilewright_explain::{Array, Gpu, Request};

pub fn request(gpu: Gpu, arguments: &[(&str, &str)]) -> Request<'static> {
    let arguments = arguments.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    Request { arguments, ..Request::new(gpu, &no_files) }
}

fn no_files(name: &str) -> Result<Array, Error> {
    panic!("{name} is no file")
}
