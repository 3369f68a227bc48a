//! The schedules of the crate's closure and product, in time: a clock for each rank, and one for each link.

use tilewright_distributed::{Axis, Shape};

/// What a rank computes with, and what it is joined by.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Pair-operations a second of a product, by its terms: pairs of both, in order.
    pub rates: &'static [(usize, f64)],
    /// Seconds for a product besides.
    pub call: f64,
    /// Pair-operations a second of the closure of one block.
    pub diagonal_rate: f64,
    /// Elements a second that are looked at before the first step.
    pub look_rate: f64,
    /// Bytes of an element.
    pub size: usize,
    pub link: Link,
    /// Whether panels move while products are computed. On processors those who send and receive copy them themselves.
    pub moves_alone: bool,
    /// Whether all ranks wait for each other before each step, as they do to agree that all are well.
    pub agrees: bool,
}

/// What leads from each rank to all others.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Seconds of a message, for each doubling of its ranks.
    pub latency: f64,
    /// Bytes a second.
    pub bandwidth: f64,
}

/// What a run takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    pub seconds: f64,
    /// Bytes that all ranks receive.
    pub received: u64,
}

impl Machine {
    fn product(&self, (m, n, k): (usize, usize, usize)) -> f64 {
        if m * n * k == 0 {
            return 0.0;
        }
        let known = self.rates.iter().rev().find(|(terms, _)| *terms <= k).or(self.rates.first());
        let rate = known.map_or(f64::INFINITY, |(_, rate)| *rate);
        m as f64 * n as f64 * k as f64 / rate + self.call
    }

    fn diagonal(&self, block: usize) -> f64 {
        (block as f64).powi(3) / self.diagonal_rate + self.call
    }

    fn message(&self, ranks: usize, bytes: f64) -> f64 {
        if ranks == 1 {
            0.0
        } else {
            self.link.latency * (ranks as f64).log2().ceil() + bytes / self.link.bandwidth
        }
    }
}

/// Panels on their way: when the row's part is at each rank, and the column's.
struct Coming {
    row: Vec<f64>,
    column: Vec<f64>,
}

/// The clocks of all ranks, row by row of the grid.
struct Clocks<'m> {
    machine: &'m Machine,
    shape: Shape,
    /// When a rank is free to compute.
    ranks: Vec<f64>,
    /// When the link of a rank is free.
    links: Vec<f64>,
    received: u64,
}

impl<'m> Clocks<'m> {
    fn new(machine: &'m Machine, shape: Shape) -> Self {
        let zeros = vec![0.0; shape.ranks()];
        Self { machine, shape, ranks: zeros.clone(), links: zeros, received: 0 }
    }

    fn at(&self, i: usize, j: usize) -> usize {
        i * self.shape.cols + j
    }

    /// Ranks of one row or of one column.
    fn row(&self, i: usize) -> Vec<usize> {
        (0..self.shape.cols).map(|j| self.at(i, j)).collect()
    }
    fn column(&self, j: usize) -> Vec<usize> {
        (0..self.shape.rows).map(|i| self.at(i, j)).collect()
    }

    /// All ranks tell each other that they are well.
    fn agree(&mut self) {
        if !self.machine.agrees {
            return;
        }
        let latest = self.ranks.iter().copied().fold(0.0, f64::max);
        self.ranks.fill(latest + self.machine.message(self.shape.ranks(), 0.0));
    }

    /// `root` sends bytes to a line of ranks. Gives when they are there.
    fn send(&mut self, line: &[usize], root: usize, bytes: f64, arrivals: &mut [f64]) {
        self.received += bytes as u64 * (line.len() as u64 - 1);
        if line.len() == 1 {
            arrivals[root] = self.ranks[root];
            return;
        }
        let machine = self.machine;
        if !machine.moves_alone {
            // A copy is made by who sends, and another one by each who receives, when it waits.
            self.ranks[root] += bytes / machine.link.bandwidth;
            for &rank in line {
                arrivals[rank] = self.ranks[root] + machine.message(line.len(), 0.0);
            }
            return;
        }
        let free = line.iter().map(|&rank| self.links[rank]).fold(self.ranks[root], f64::max);
        let done = free + machine.message(line.len(), bytes);
        for &rank in line {
            (self.links[rank], arrivals[rank]) = (done, done);
        }
        arrivals[root] = self.ranks[root];
    }

    /// A rank waits for bytes.
    fn wait(&mut self, rank: usize, arrival: f64, bytes: f64, is_root: bool) {
        self.ranks[rank] = self.ranks[rank].max(arrival);
        if !self.machine.moves_alone && !is_root {
            self.ranks[rank] += bytes / self.machine.link.bandwidth;
        }
    }

    fn finish(&self) -> Run {
        Run { seconds: self.ranks.iter().copied().fold(0.0, f64::max), received: self.received }
    }
}

/// The closure of `n` vertices in blocks of `block`.
pub fn closure(machine: &Machine, n: usize, block: usize, shape: Shape, is_ahead: bool) -> Run {
    let (rows, cols) = (Axis { len: n, block, parts: shape.rows }, Axis { len: n, block, parts: shape.cols });
    let mut run = Closure { clocks: Clocks::new(machine, shape), rows, cols };
    for rank in 0..shape.ranks() {
        let (height, width) = run.extent(rank);
        run.clocks.ranks[rank] = (height * width) as f64 / machine.look_rate;
    }
    let count = rows.blocks();
    let mut coming = None;
    for k in 0..count {
        run.clocks.agree();
        let panels = coming.take().unwrap_or_else(|| run.begin(k));
        run.wait(k, &panels);
        coming = run.update(k, is_ahead && k + 1 < count);
    }
    run.clocks.agree();
    run.clocks.finish()
}

struct Closure<'m> {
    clocks: Clocks<'m>,
    rows: Axis,
    cols: Axis,
}

impl Closure<'_> {
    /// The rows and columns of a rank.
    fn extent(&self, rank: usize) -> (usize, usize) {
        let (i, j) = (rank / self.clocks.shape.cols, rank % self.clocks.shape.cols);
        (self.rows.local_len(i), self.cols.local_len(j))
    }

    fn bytes(&self, elements: usize) -> f64 {
        (elements * self.clocks.machine.size) as f64
    }

    /// The diagonal block is closed and sent, its row and column are updated and sent.
    fn begin(&mut self, k: usize) -> Coming {
        let (i, j, width) = (self.rows.owner(k), self.cols.owner(k), self.rows.indices(k).len());
        let (root, bytes, count) = (self.clocks.at(i, j), self.bytes(width * width), self.clocks.ranks.len());
        self.clocks.ranks[root] += self.clocks.machine.diagonal(width);
        for line in [self.clocks.row(i), self.clocks.column(j)] {
            let mut arrivals = vec![0.0; count];
            self.clocks.send(&line, root, bytes, &mut arrivals);
            for &rank in line.iter().filter(|&&rank| rank != root) {
                self.clocks.wait(rank, arrivals[rank], bytes, false);
            }
        }
        let mut coming = Coming { row: vec![0.0; count], column: vec![0.0; count] };
        for rank in self.clocks.row(i) {
            let length = self.extent(rank).1;
            self.clocks.ranks[rank] += self.clocks.machine.product((width, length, width));
            let line = self.clocks.column(rank % self.clocks.shape.cols);
            self.clocks.send(&line, rank, self.bytes(width * length), &mut coming.row);
        }
        for rank in self.clocks.column(j) {
            let height = self.extent(rank).0;
            self.clocks.ranks[rank] += self.clocks.machine.product((height, width, width));
            let line = self.clocks.row(rank / self.clocks.shape.cols);
            self.clocks.send(&line, rank, self.bytes(height * width), &mut coming.column);
        }
        coming
    }

    fn wait(&mut self, k: usize, panels: &Coming) {
        let (i, j, width) = (self.rows.owner(k), self.cols.owner(k), self.rows.indices(k).len());
        for rank in 0..self.clocks.ranks.len() {
            let (height, length) = self.extent(rank);
            let (at_i, at_j) = (rank / self.clocks.shape.cols, rank % self.clocks.shape.cols);
            self.clocks.wait(rank, panels.row[rank], self.bytes(width * length), at_i == i);
            self.clocks.wait(rank, panels.column[rank], self.bytes(height * width), at_j == j);
        }
    }

    /// The rest, or first what the next block needs.
    fn update(&mut self, k: usize, is_ahead: bool) -> Option<Coming> {
        let width = self.rows.indices(k).len();
        let without = |len: usize, is_here: bool| if is_here { len.saturating_sub(width) } else { len };
        let mut rests = Vec::new();
        for rank in 0..self.clocks.ranks.len() {
            let (height, length) = self.extent(rank);
            let (i, j) = (rank / self.clocks.shape.cols, rank % self.clocks.shape.cols);
            let (height, length) =
                (without(height, i == self.rows.owner(k)), without(length, j == self.cols.owner(k)));
            let next = if is_ahead { self.rows.indices(k + 1).len() } else { 0 };
            let next_rows = if is_ahead && i == self.rows.owner(k + 1) { next } else { 0 };
            let next_cols = if is_ahead && j == self.cols.owner(k + 1) { next } else { 0 };
            let (rest_rows, rest_cols) = (height.saturating_sub(next_rows), length.saturating_sub(next_cols));
            let machine = self.clocks.machine;
            self.clocks.ranks[rank] +=
                machine.product((next_rows, length, width)) + machine.product((rest_rows, next_cols, width));
            rests.push(machine.product((rest_rows, rest_cols, width)));
        }
        let coming = is_ahead.then(|| self.begin(k + 1));
        for (clock, rest) in self.clocks.ranks.iter_mut().zip(rests) {
            *clock += rest;
        }
        coming
    }
}

/// The product of `m x k` and `k x n` by panels of `block` terms.
pub fn product(machine: &Machine, (m, n, k): (usize, usize, usize), block: usize, shape: Shape) -> Run {
    let axis = |len, parts| Axis { len, block, parts };
    let (rows, cols) = (axis(m, shape.rows), axis(n, shape.cols));
    let (terms_a, terms_b) = (axis(k, shape.cols), axis(k, shape.rows));
    let mut clocks = Clocks::new(machine, shape);
    let begin = |clocks: &mut Clocks<'_>, step: usize| {
        let width = terms_a.indices(step).len();
        let mut coming = Coming { row: vec![0.0; shape.ranks()], column: vec![0.0; shape.ranks()] };
        for i in 0..shape.rows {
            let (line, bytes) = (clocks.row(i), (rows.local_len(i) * width * machine.size) as f64);
            clocks.send(&line, clocks.at(i, terms_a.owner(step)), bytes, &mut coming.column);
        }
        for j in 0..shape.cols {
            let (line, bytes) = (clocks.column(j), (width * cols.local_len(j) * machine.size) as f64);
            clocks.send(&line, clocks.at(terms_b.owner(step), j), bytes, &mut coming.row);
        }
        coming
    };
    let count = terms_a.blocks();
    let mut coming = (count > 0).then(|| begin(&mut clocks, 0));
    for step in 0..count {
        clocks.agree();
        let Some(panels) = coming.take() else { break };
        let width = terms_a.indices(step).len();
        for rank in 0..shape.ranks() {
            let (i, j) = (rank / shape.cols, rank % shape.cols);
            let (a, b) = (rows.local_len(i) * width * machine.size, width * cols.local_len(j) * machine.size);
            clocks.wait(rank, panels.column[rank], a as f64, j == terms_a.owner(step));
            clocks.wait(rank, panels.row[rank], b as f64, i == terms_b.owner(step));
        }
        if step + 1 < count {
            coming = Some(begin(&mut clocks, step + 1));
        }
        for rank in 0..shape.ranks() {
            let (i, j) = (rank / shape.cols, rank % shape.cols);
            clocks.ranks[rank] += machine.product((rows.local_len(i), cols.local_len(j), width));
        }
    }
    clocks.agree();
    clocks.finish()
}
