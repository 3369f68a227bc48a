//! Lanes of a warp that look at an mbarrier again and again.

/// What a phase of an mbarrier still lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Arrivals.
    pub arrivals: u64,
    /// Arrivals of each phase.
    pub expected: u64,
    /// Bytes; fewer than none if they came before they were announced.
    pub bytes: i64,
}

impl Missing {
    /// What is missing, and what to do about it.
    pub fn sentences(self) -> (String, &'static str) {
        let Self { arrivals, expected, bytes } = self;
        let of_arrivals = match (arrivals, expected) {
            (0, _) => "all threads have arrived".into(),
            (all, expected) if all == expected => format!("nobody has arrived of {expected}"),
            (some, expected) => format!("{some} arrivals of {expected} are missing"),
        };
        let lacks = match bytes {
            0 => of_arrivals,
            1.. => format!("{of_arrivals}, and {bytes} bytes that were announced have not come"),
            _ => format!("{of_arrivals}, and {} bytes have come that were not announced", -bytes),
        };
        let fix = match bytes {
            0 => {
                "initialise it with the number of threads that arrive in each phase, and flip the parity that is waited for after every phase: 0 is that of the first"
            }
            _ => {
                "announce with expect_tx the bytes of all copies of a phase: of a tensor's box all, also those outside of the tensor"
            }
        };
        (lacks, fix)
    }
}

/// So often threads look before they are taken to do nothing else: some give up after a number of looks.
const LOOKS: u32 = 4096;

/// Lanes of a warp that have looked at an mbarrier whose phase was not over.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The instruction.
    pub pc: u32,
    pub lanes: u32,
    /// The address that one of them waits at.
    pub at: u64,
    pub missing: Missing,
    /// What had happened at the cluster's mbarriers when they began to look.
    pub event: u64,
}

/// All of a warp, and how often they have looked since something has happened.
#[derive(Debug, Default)]
pub struct Waits(Vec<(Waiting, u32)>);

impl Waits {
    /// Lanes have looked in vain. Returns whether they begin to wait.
    pub fn keep(&mut self, new: Waiting) -> bool {
        let Some((known, looks)) = self.0.iter_mut().find(|(waiting, _)| waiting.pc == new.pc) else {
            self.0.push((new, 0));
            return true;
        };
        let is_same = (known.lanes, known.at) == (new.lanes, new.at);
        if is_same && known.event == new.event {
            *looks += 1;
        } else {
            (*known, *looks) = (new, 0);
        }
        !is_same
    }

    /// Lanes do something else.
    pub fn stop(&mut self, lanes: u32) {
        self.0.retain(|(waiting, _)| waiting.lanes & lanes == 0);
    }

    /// Whether no lanes wait.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lanes that do nothing but look, and since whose first look nothing has happened.
    pub fn lasting(&self, event: u64) -> u32 {
        let lasting = self.0.iter().filter(|(waiting, looks)| waiting.event == event && *looks >= LOOKS);
        lasting.fold(0, |lanes, (waiting, _)| lanes | waiting.lanes)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Waiting> {
        self.0.iter().map(|(waiting, _)| waiting)
    }
}
