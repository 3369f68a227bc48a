//! A communicator as a group.

use super::{
    abi::Known,
    broken,
    functions::{Functions, Handle, Status},
};
use crate::{
    buffer::Buffer,
    group::{Group, Pending},
};
use core::{
    cell::Cell,
    ffi::{c_char, c_int},
    fmt,
    ptr::null_mut,
};
use std::rc::Rc;
use tilewright::{Error, ErrorKind};

/// The most bytes of one call, whose count is an `int`.
const PIECE: usize = 1 << 30;

/// MPI as a whole.
pub(super) trait World: fmt::Debug {
    fn group(&self) -> &dyn Group;
    fn is_broken(&self) -> bool;
    fn finish(&self) -> Result<(), Error>;
    fn abort(&self) -> Abort;
}

/// Ends the job with all of its ranks, from any thread: launchers do not all do that when one rank ends.
pub struct Abort(Box<dyn Fn(c_int) + Send>);

impl fmt::Debug for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Abort")
    }
}

impl Abort {
    /// Ends the job; each rank has this exit code, where the launcher passes it on.
    pub fn now(&self, code: u8) {
        (self.0)(c_int::from(code));
    }
}

/// What all communicators share.
#[derive(Debug)]
struct Session<H: Handle> {
    functions: Rc<Functions<H>>,
    known: Known<H>,
    /// Whether MPI was started here.
    is_ours: bool,
    /// Whether a call has failed: MPI is not used any more then.
    is_broken: Cell<bool>,
}

impl<H: Handle> Session<H> {
    /// Whether MPI has been left, by whoever had started it.
    fn is_over(&self) -> bool {
        let mut is_over = 0;
        // SAFETY: allowed at any time; the place is writable.
        unsafe { (self.functions.finalized)(&raw mut is_over) };
        is_over != 0
    }

    /// The error that a code stands for.
    fn check(&self, doing: &str, rank: usize, code: c_int) -> Result<(), Error> {
        if code == 0 {
            return Ok(());
        }
        self.is_broken.set(true);
        // The longest text is 512 bytes.
        let (mut text, mut len) = ([0_u8; 1024], 0);
        // SAFETY: MPI writes at most MPI_MAX_ERROR_STRING bytes.
        unsafe { (self.functions.error_string)(code, text.as_mut_ptr().cast::<c_char>(), &raw mut len) };
        let len = usize::try_from(len).unwrap_or(0).min(text.len());
        let text = String::from_utf8_lossy(&text[..len]);
        Err(broken(doing, rank, format!("MPI: {text} ({code})")))
    }
}

/// A communicator.
#[derive(Debug)]
pub(super) struct Communicator<H: Handle> {
    session: Rc<Session<H>>,
    handle: H,
    /// Whether it came from a split: the world is nobody's to free.
    is_part: bool,
    rank: usize,
    size: usize,
}

impl<H: Handle> Communicator<H> {
    /// All ranks, after MPI was started unless it had been.
    pub fn world(functions: Rc<Functions<H>>, known: Known<H>) -> Result<Self, Error> {
        let (mut is_started, mut provided) = (0, 0);
        // SAFETY: allowed at any time; the place is writable.
        unsafe { (functions.initialized)(&raw mut is_started) };
        let is_ours = is_started == 0;
        let session = Rc::new(Session { functions, known, is_ours, is_broken: Cell::new(false) });
        if is_ours {
            // SAFETY: MPI is not started yet; it takes no arguments.
            let code = unsafe {
                (session.functions.init_thread)(null_mut(), null_mut(), known.funneled, &raw mut provided)
            };
            session.check("starting MPI", 0, code)?;
        }
        Self::of(session, known.world, false)
    }

    /// A copy of a communicator that another user of the library has made, who keeps his own as it is.
    pub fn copy_of(functions: Rc<Functions<H>>, known: Known<H>, theirs: usize) -> Result<Self, Error> {
        let session = Rc::new(Session { functions, known, is_ours: false, is_broken: Cell::new(false) });
        let (mut handle, mut rank) = (H::NONE, 0);
        let theirs = H::of(theirs);
        // SAFETY: the caller of `Mpi::of_communicator` promises a communicator of this library, which has been started; the places are writable.
        let codes = unsafe {
            let functions = &session.functions;
            [
                (functions.comm_rank)(theirs, &raw mut rank),
                (functions.comm_split)(theirs, 0, rank, &raw mut handle),
            ]
        };
        for code in codes {
            session.check("copying a communicator", 0, code)?;
        }
        Self::of(session, handle, true)
    }

    fn of(session: Rc<Session<H>>, handle: H, is_part: bool) -> Result<Self, Error> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the handle is a communicator's, and the places are writable.
        let codes = unsafe {
            let functions = &session.functions;
            let handler = (functions.set_error_handler)(handle, session.known.errors_return);
            [
                handler,
                (functions.comm_rank)(handle, &raw mut rank),
                (functions.comm_size)(handle, &raw mut size),
            ]
        };
        for code in codes {
            session.check("joining a group", 0, code)?;
        }
        let number = |number| usize::try_from(number).unwrap_or(0);
        Ok(Self { session, handle, is_part, rank: number(rank), size: number(size) })
    }

    fn check(&self, doing: &str, code: c_int) -> Result<(), Error> {
        self.session.check(doing, self.rank, code)
    }
}

impl<H: Handle> Drop for Communicator<H> {
    fn drop(&mut self) {
        // Freeing is collective, and so makes no sense after a failure.
        let session = &self.session;
        if self.is_part && !session.is_broken.get() && !std::thread::panicking() && !session.is_over() {
            // SAFETY: the communicator came from a split, and MPI runs.
            unsafe { (self.session.functions.comm_free)(&raw mut self.handle) };
        }
    }
}

impl<H: Handle> World for Communicator<H> {
    fn group(&self) -> &dyn Group {
        self
    }

    fn is_broken(&self) -> bool {
        self.session.is_broken.get()
    }

    fn finish(&self) -> Result<(), Error> {
        if self.session.is_broken.get() || !self.session.is_ours || self.session.is_over() {
            return Ok(());
        }
        // SAFETY: MPI runs; groups that are dropped afterwards see that it is over.
        let code = unsafe { (self.session.functions.finalize)() };
        self.check("leaving MPI", code)
    }

    fn abort(&self) -> Abort {
        /// A handle and a function of a library that stays loaded.
        struct Call<H>(unsafe extern "C" fn(H, c_int) -> c_int, H);
        // SAFETY: both are numbers, and nothing that they lead to is shared but by MPI itself.
        unsafe impl<H> Send for Call<H> {}
        impl<H: Copy> Call<H> {
            fn now(&self, code: c_int) {
                // SAFETY: the communicator is valid. MPI may ask for its calls to come from one thread: this one waits in a call that does not return, and the process ends here.
                unsafe { (self.0)(self.1, code) };
            }
        }
        let call = Call(self.session.functions.abort, self.handle);
        Abort(Box::new(move |code| call.now(code)))
    }
}

impl<H: Handle> Group for Communicator<H> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn split(&self, color: usize) -> Result<Box<dyn Group>, Error> {
        let mut handle = H::NONE;
        let (color, key) = (color as c_int, self.rank as c_int);
        // SAFETY: the communicator is valid, and the place is writable.
        let code = unsafe { (self.session.functions.comm_split)(self.handle, color, key, &raw mut handle) };
        self.check("splitting a group", code)?;
        Ok(Box::new(Self::of(Rc::clone(&self.session), handle, true)?))
    }

    fn broadcast(&self, buffer: Buffer, root: usize) -> Result<Box<dyn Pending>, Error> {
        let byte = self.session.known.byte;
        let (session, requests) = (Rc::clone(&self.session), Vec::new());
        // It owns the buffer before anything may write to it, and leaks it where a later piece fails.
        let mut sending = Box::new(Sending { session, rank: self.rank, requests, buffer });
        let Sending { requests, buffer, .. } = &mut *sending;
        for piece in buffer.as_mut_slice().chunks_mut(PIECE) {
            let (mut request, len) = (H::NONE, piece.len() as c_int);
            // SAFETY: the bytes stay where they are until the request is waited for: the buffer is owned by what is returned, and leaks where that is not possible.
            let code = unsafe {
                let (start, root) = (piece.as_mut_ptr().cast(), root as c_int);
                (self.session.functions.broadcast)(start, len, byte, root, self.handle, &raw mut request)
            };
            self.check("a broadcast", code)?;
            requests.push(request);
        }
        Ok(sending)
    }

    fn exchange(&self, mine: &[u8]) -> Result<Vec<u8>, Error> {
        let bytes = mine.len() * self.size;
        let mut all = Vec::new();
        all.try_reserve_exact(bytes).map_err(|_| ErrorKind::OutOfMemory {
            what: "what ranks tell each other",
            bytes: bytes as u64,
        })?;
        all.resize(bytes, 0_u8);
        let (byte, len) = (self.session.known.byte, mine.len() as c_int);
        // SAFETY: each rank gives as many bytes, and there is room for those of all.
        let code = unsafe {
            let (from, to) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
            (self.session.functions.gather_all)(from, len, byte, to, len, byte, self.handle)
        };
        self.check("an exchange", code)?;
        Ok(all)
    }
}

/// A broadcast that is under way, and the buffer that it writes to.
struct Sending<H: Handle> {
    session: Rc<Session<H>>,
    rank: usize,
    requests: Vec<H>,
    buffer: Buffer,
}

impl<H: Handle> Sending<H> {
    fn settle(&mut self) -> Result<(), Error> {
        let mut status: Status = [0; 16];
        while let Some(mut request) = self.requests.pop() {
            // SAFETY: the request is under way, and the status is larger than any implementation's.
            let code = unsafe { (self.session.functions.wait)(&raw mut request, &raw mut status) };
            self.session.check("a broadcast", self.rank, code)?;
        }
        Ok(())
    }
}

impl<H: Handle> Pending for Sending<H> {
    fn wait(mut self: Box<Self>) -> Result<Buffer, Error> {
        self.settle()?;
        Ok(core::mem::take(&mut self.buffer))
    }
}

impl<H: Handle> Drop for Sending<H> {
    fn drop(&mut self) {
        // What MPI may still write to must not be given back.
        if self.session.is_broken.get() || std::thread::panicking() || self.settle().is_err() {
            core::mem::forget(core::mem::take(&mut self.buffer));
        }
    }
}
