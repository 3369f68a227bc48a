//! Where paths are computed.

use super::graph::Graph;
use crate::{
    args::{Common, Paths},
    failure::Failure,
    terminal,
};
use tilewright::{
    Backend,
    paths::{Method, OnGpu, Options},
};

/// The most vertices that are emulated: they take a quarter of an hour or more.
const MOST_EMULATED: usize = 4096;

/// The GPU that is asked for, or one that is faster than this processor; none for the processor.
pub fn open(args: &Paths, common: &Common, graph: &Graph) -> Result<Option<OnGpu>, Failure> {
    let searches = args.method == Method::Dijkstra;
    match args.backend {
        Backend::Auto if searches => Ok(None),
        Backend::Auto => {
            let options = Options { threads: args.threads, ..Options::default() };
            match OnGpu::if_faster(&graph.paths(args)?.options(options).plan()?, graph.dtype) {
                Ok(gpu) => Ok(Some(gpu)),
                Err(why) => {
                    if common.verbose {
                        terminal::note(common, "cpu", &why);
                    }
                    Ok(None)
                }
            }
        }
        Backend::Cpu => Ok(None),
        backend if searches => Err(Failure::usage(
            format!("--method dijkstra on the backend {backend}"),
            "searches are the processor's; leave out one of both",
        )),
        Backend::Emulator if graph.vertices() > MOST_EMULATED => Err(Failure::usage(
            format!("{} vertices are too many for the emulator", graph.vertices()),
            format!("it takes up to {MOST_EMULATED}: choose --backend cpu"),
        )),
        backend => Ok(Some(OnGpu::open(backend)?)),
    }
}

/// The method: a GPU computes by products alone.
pub fn method(args: &Paths) -> Method {
    match args.backend {
        Backend::Auto | Backend::Cpu => args.method,
        _ => Method::Dense,
    }
}
