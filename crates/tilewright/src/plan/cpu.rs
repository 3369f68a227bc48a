//! Plans for this processor.

use super::{
    How, Plan,
    query::{Query, Results},
};
use crate::dynamic::{Task, dispatch};
use tilewright_core::{DynRef, Element, Error, Layout, MatRef, Semiring, Update};
use tilewright_cpu::{Isa, Options};

/// A product on this processor.
pub type CpuPlan = tilewright_cpu::Plan;

impl Plan {
    /// The plan for this processor, with at most `threads` threads (0: as many as the product can occupy) and `isa` or
    /// the best instruction set there is.
    ///
    /// ```
    /// use tilewright::{DType, Layout, Problem, SemiringId, plan::{How, Plan, Query}};
    /// let square = Layout::row_major(100, 100);
    /// let query = Query::new(SemiringId::MinPlus, DType::F32, Problem::new(square, square, square)?);
    /// let plan = Plan::on_cpu(&query, 1, None)?;
    /// let How::Cpu(how) = plan.how else { unreachable!("it was asked for") };
    /// assert_eq!((how.threads, how.regions, how.kernel.semiring), (1, (1, 1), "min-plus"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` for a semiring, type, factor or result that does not exist; `unavailable` or `environment` for an
    /// instruction set that cannot be used.
    pub fn on_cpu(query: &Query, threads: usize, isa: Option<Isa>) -> Result<Self, Error> {
        let options = Options { threads, isa, ..Options::default() };
        let cpu = match query.own_name() {
            Some(_) => tilewright_cpu::plan_expressions(&query.problem, query.dtype, &options)?,
            None => {
                let types = [query.dtype, query.output];
                dispatch(query.semiring, types, query.joining, OnCpu { query, options: &options })?
            }
        };
        Ok(Self { query: *query, work: query.work(), how: How::Cpu(cpu), rejected: Vec::new() })
    }
}

struct OnCpu<'a> {
    query: &'a Query,
    options: &'a Options<'a>,
}

impl Task for OnCpu<'_> {
    type Output = CpuPlan;
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        update: &Update<S>,
    ) -> Result<CpuPlan, Error> {
        let plan = match self.query.results {
            Results::Product => tilewright_cpu::plan::<S>,
            Results::ProductAndArg => tilewright_cpu::plan_arg::<S>,
        };
        // A plan looks at no element: any row stands for the bias, and any number for scales.
        let problem = &self.query.problem;
        let zero = [S::finish(S::ZERO)];
        let row = |()| MatRef::new(&zero, Layout::strided(1, problem.n(), 0, 0)).map(DynRef::from);
        let scale = [0.0f32];
        let scales = self.query.scales.try_map(|one| {
            MatRef::new(&scale, Layout::strided(one.rows, one.cols, 0, 0)).map(DynRef::from)
        })?;
        let options = Options { epilogue: self.query.epilogue.try_map(row)?, scales, ..*self.options };
        plan(problem, update, &options)
    }
}
