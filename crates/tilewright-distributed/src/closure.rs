//! The closure of a distributed matrix: blocked Floyd and Warshall in two dimensions.

#[cfg(feature = "cuda")]
use crate::devices::{Device, OnDevice};
use crate::{
    checkpoint::{Checkpoints, Resumed, fingerprint},
    group::Group,
    matrix::DistMatrix,
    prepare::prepare,
    site::{Carrier, Host, Map, Site},
    step::{self, Room, Steps},
};
use core::fmt;
use tilewright::{DynMut, DynRef, Error, ErrorKind, Joining, Options, SemiringId, Value};

/// When panels are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The next panels first on GPUs, and in order on processors.
    #[default]
    Auto,
    /// The row and the column of the next block are updated first, and are on their way while the rest is: where panels move by themselves, and take long.
    LookAhead,
    /// Each step ends before the next begins: on processors it is faster.
    InOrder,
}

impl Order {
    /// Whether panels go ahead of the rest on GPUs, or on processors.
    pub(crate) fn looks_ahead(self, on_gpus: bool) -> bool {
        match self {
            Self::Auto => on_gpus,
            order => order == Self::LookAhead,
        }
    }
}

/// Turns weights of edges into weights of best paths, in place: `D[i,j] = ⊕` over all paths from `i` to `j`, those without an edge included.
///
/// For each block `k` of the diagonal: it is closed and sent along its row and its column; `D[k,:] = D[k,k] ⊗ D[k,:]` and `D[:,k] = D[:,k] ⊗ D[k,k]`, which are sent
/// along columns and rows; then everywhere `D = D ⊕ D[:,k] ⊗ D[k,:]`.
/// All ranks together receive [`closure_bytes`](crate::closure_bytes) bytes.
///
/// Each element joins the same terms in the same order on every grid, so that the bits are those of one rank with the same size of blocks. Where sums are exact
/// (integers, whole floats, bottlenecks, or-and), they are those of [`tilewright::paths`], too.
///
/// ```
/// use tilewright::{SemiringId, Value};
/// use tilewright_distributed::{Closure, DistMatrix, Grid, Shape, threads};
/// let found = threads::run(2, |group| {
///     let grid = Grid::new(group, Shape { rows: 1, cols: 2 })?;
///     let inf = f32::INFINITY;
///     let roads = [[0.0, 3.0, 9.0], [3.0, 0.0, 4.0], [inf, 4.0, 0.0]];
///     let mut d = DistMatrix::from_fn(&grid, 3, 3, 2, |i, j| roads[i][j])?;
///     Closure::new(SemiringId::MinPlus).run(&mut d)?;
///     d.gather().map(|d| d.as_ref().get(0, 2))
/// });
/// assert!(found.into_iter().all(|d| d.is_ok_and(|d| d == Some(Value::Float(7.0)))));
/// ```
#[derive(Clone, Copy)]
pub struct Closure<'o> {
    /// What makes a path good.
    pub semiring: SemiringId,
    /// How products are computed on each rank.
    pub options: Options<'o>,
    /// The GPU of this rank, where the matrix stays during the closure. `None` computes by the options, and sends panels from memory.
    #[cfg(feature = "cuda")]
    pub device: Option<&'o Device>,
    /// When panels are sent.
    pub order: Order,
    /// Where states are kept on the way.
    pub checkpoints: Option<&'o Checkpoints>,
    /// Called by each rank before each step, with its number from 0 on and the number of steps. An error ends the closure at every rank.
    #[allow(clippy::type_complexity)]
    pub before_step: Option<&'o dyn Fn(usize, usize) -> Result<(), Error>>,
}

impl fmt::Debug for Closure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closure")
            .field("semiring", &self.semiring)
            .field("options", &self.options)
            .field("order", &self.order)
            .field("checkpoints", &self.checkpoints)
            .finish_non_exhaustive()
    }
}

impl<'o> Closure<'o> {
    /// On this processor, without checkpoints.
    pub fn new(semiring: SemiringId) -> Self {
        let options = Options { backend: tilewright::Backend::Cpu, ..Options::default() };
        Self {
            semiring,
            options,
            #[cfg(feature = "cuda")]
            device: None,
            order: Order::default(),
            checkpoints: None,
            before_step: None,
        }
    }

    /// Closes `d`. Every rank of its grid calls it.
    ///
    /// # Errors
    /// The same at every rank: `not-square`; `outside-domain`; `unsupported` for a semiring that has no paths on these elements, where sums of integers may leave
    /// their range, where an edge makes paths better whose weights are floats that are added or multiplied, and where the folder of states has some;
    /// `negative-cycle` names a vertex of one; `device` names the step, the rank and its host. `d` is undefined then.
    pub fn run(&self, d: &mut DistMatrix<'_>) -> Result<(), Error> {
        if let Some(to) = self.checkpoints {
            to.refuse_states(d.grid().world())?;
        }
        let weights = self.look_at(d)?;
        self.go_on(d, 0, weights)
    }

    /// As [`Closure::run`], from the newest state of `checkpoints` on that is whole, which any grid may have kept; from the beginning where there is none.
    ///
    /// # Errors
    /// As [`Closure::run`]; `bad-file` for a state of another closure, and where all states are damaged.
    pub fn resume(&self, d: &mut DistMatrix<'_>) -> Result<Resumed, Error> {
        let weights = self.look_at(d)?;
        let resumed = match self.checkpoints {
            Some(from) => from.resume(d, self.semiring, weights)?,
            None => Resumed::default(),
        };
        self.go_on(d, resumed.done.unwrap_or(0), weights)?;
        Ok(resumed)
    }

    /// Makes weights clean, and tells them from others where states are kept.
    fn look_at(&self, d: &mut DistMatrix<'_>) -> Result<u64, Error> {
        let (rows, cols) = (d.rows().len, d.cols().len);
        if rows != cols {
            return Err(ErrorKind::NotSquare { what: "D", rows, cols }.into());
        }
        prepare(self.semiring, d, self.options.threads)?;
        if self.checkpoints.is_some() { fingerprint(d) } else { Ok(0) }
    }

    /// Takes the steps after the first `done`, of the closure of these weights.
    fn go_on(&self, d: &mut DistMatrix<'_>, done: usize, weights: u64) -> Result<(), Error> {
        let (world, map) = (d.grid().world(), Map::of(d));
        #[cfg(feature = "cuda")]
        if let Some(device) = self.device {
            let site = OnDevice::new(self, device, d)?;
            return self.run_steps(world, map, site, (done, weights));
        }
        self.run_steps(world, map, Host::new(self, d), (done, weights))
    }

    fn run_steps(
        &self,
        world: &dyn Group,
        map: Map,
        mut site: impl Site,
        (done, weights): (usize, u64),
    ) -> Result<(), Error> {
        let room = world.agree(Room::new(&map, site.carrier()), "taking memory for panels")?;
        let mut steps = Steps::new(map, site, room);
        let taken = self.take_steps(world, &mut steps, (done, map.rows.blocks()), weights);
        if taken.is_err() {
            steps.site.carrier().give_up();
        }
        taken
    }

    fn take_steps(
        &self,
        world: &dyn Group,
        steps: &mut Steps<impl Site>,
        (done, count): (usize, usize),
        weights: u64,
    ) -> Result<(), Error> {
        let looks_ahead = steps.site.looks_ahead();
        let mut coming = None;
        for k in done..count {
            let before = self.before_step.map_or(Ok(()), |before| before(k, count));
            let status = steps.status().and(before);
            world.agree(status, &format!("step {} of {count}", k + 1))?;
            let panels = match coming.take() {
                Some(coming) => coming,
                None => {
                    let begun = steps.begin(k)?;
                    // Nobody waits for the panels of a rank that could not send them.
                    let status = steps.status();
                    world.agree(status, &format!("step {} of {count}", k + 1))?;
                    begun
                }
            };
            let panels = steps.arrived(panels)?;
            steps.keep_pace();
            let is_due = self.checkpoints.is_some_and(|to| to.is_due(k + 1, done, count));
            // A state that is kept is one between two steps.
            let is_ahead = looks_ahead && k + 1 < count && !is_due;
            coming = steps.update(k, &panels, is_ahead)?;
            steps.reuse(panels);
            if let Some(to) = self.checkpoints.filter(|_| is_due) {
                steps.settle();
                let status = steps.status();
                world.agree(status, &format!("step {} of {count}", k + 1))?;
                let state = world.agree(steps.site.state(), "keeping a state")?;
                to.write(state, self.semiring, k + 1, weights)?;
            }
        }
        steps.settle();
        let status = steps.status();
        let home = status.and_then(|()| steps.site.state().map(drop));
        world.agree(home, &format!("step {count} of {count}"))
    }

    pub(crate) fn product(
        &self,
        a: DynRef<'_>,
        b: DynRef<'_>,
        c: DynMut<'_>,
        joining: Joining<Value>,
    ) -> Result<(), Error> {
        step::product(self.semiring, (a, b), c, joining, &self.options)
    }
}
