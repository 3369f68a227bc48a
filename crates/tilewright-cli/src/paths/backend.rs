//! Where paths are computed.

use super::{graph::Graph, resolved::Resolved};
use crate::{args::Common, failure::Failure, terminal};
use tilewright::{
    Backend,
    paths::{Method, OnGpu, Options},
};

/// The most vertices that are emulated: they take a quarter of an hour or more.
const MOST_EMULATED: usize = 4096;

/// The GPU that is asked for, or one that is faster than this processor; none for the processor.
pub fn open(asked: &Resolved, common: &Common, graph: &Graph) -> Result<Option<OnGpu>, Failure> {
    match asked.backend {
        Backend::Auto if asked.method == Method::Dijkstra => Ok(None),
        Backend::Auto => {
            let options = Options { threads: asked.threads, ..Options::default() };
            match OnGpu::if_faster(&graph.paths(asked)?.options(options).plan()?, graph.dtype) {
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
        Backend::Emulator if graph.vertices() > MOST_EMULATED => Err(Failure::usage(
            format!("{} vertices are too many for the emulator", graph.vertices()),
            format!("it takes up to {MOST_EMULATED}: choose --backend cpu"),
        )),
        backend => Ok(Some(OnGpu::open(backend)?)),
    }
}
