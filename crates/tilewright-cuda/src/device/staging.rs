//! Copies between pageable memory of the host and the device, through page-locked buffers that are kept: the device copies one piece while the host copies the next.

use super::page_locked::Buffer;
use super::stream::Stream;
use crate::ffi::driver as ffi;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use tilewright_core::{Error, ErrorKind};

/// Bytes of a piece: the device takes some 50 microseconds for it, and the host 200.
const PIECE: usize = 2 << 20;
/// A thread copies some 10 GB/s, and the bus takes four times as much.
const MOST_THREADS: usize = 4;
/// As many pieces are worth a further thread.
const PIECES_OF_THREAD: usize = 4;
/// Each thread fills a buffer while the device reads another.
const MOST_KEPT: usize = 2 * MOST_THREADS;

/// Memory of the host that several threads copy pieces of.
#[derive(Clone, Copy)]
struct Host(*mut u8);

// SAFETY: the threads copy different pieces.
unsafe impl Sync for Host {}

impl Host {
    /// # Safety
    /// The byte lies inside what is copied.
    unsafe fn at(self, start: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(start) }
    }
}

/// A part of a copy: where it begins, and its bytes.
type Piece = (usize, usize);

impl Stream {
    /// Copies from the host, and returns when the source has been read. What is put into the stream later finds the bytes on the device.
    ///
    /// # Safety
    /// So many bytes from `source` on must be readable, and from `target` on memory of this context as long as work in the stream runs.
    pub(super) unsafe fn copy_up(
        &self,
        target: ffi::Address,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), Error> {
        let host = Host(source.cast_mut());
        in_pieces(bytes, &|next| {
            while let Some((start, length)) = next() {
                let buffer = self.empty_buffer()?;
                // SAFETY: the caller's promise; nobody else uses the buffer, which holds a piece.
                unsafe {
                    ptr::copy_nonoverlapping(host.at(start).cast_const(), buffer.memory.cast(), length)
                };
                let (entered, to) = (self.context.enter()?, target + start as ffi::Address);
                // SAFETY: as above; the buffer is not written to before its event.
                let code = unsafe {
                    (entered.functions.cuMemcpyHtoDAsync_v2)(to, buffer.memory, length, self.handle())
                };
                self.context.check(code, || format!("copying {length} bytes to the device"))?;
                self.record(&buffer)?;
                self.give_back(buffer);
            }
            Ok(())
        })
    }

    /// Copies to the host, and waits.
    ///
    /// # Safety
    /// So many bytes from `target` on must be writable, and from `source` on memory of this context.
    pub(super) unsafe fn copy_down(
        &self,
        target: *mut u8,
        source: ffi::Address,
        bytes: usize,
    ) -> Result<(), Error> {
        let host = Host(target);
        in_pieces(bytes, &|next| {
            let start = || -> Result<Option<(Piece, Buffer)>, Error> {
                let Some(piece) = next() else { return Ok(None) };
                Ok(Some((piece, self.filled_buffer(source, piece)?)))
            };
            let mut first = start()?;
            while let Some(((from, length), buffer)) = first {
                first = start()?;
                self.wait_for(&buffer)?;
                // SAFETY: the caller's promise; the device has filled the buffer, which nobody else uses.
                unsafe { ptr::copy_nonoverlapping(buffer.memory.cast_const().cast(), host.at(from), length) };
                self.give_back(buffer);
            }
            Ok(())
        })
    }

    /// A buffer that the device will have filled when its event has happened.
    fn filled_buffer(&self, source: ffi::Address, (start, length): Piece) -> Result<Buffer, Error> {
        let buffer = self.empty_buffer()?;
        let (entered, from) = (self.context.enter()?, source + start as ffi::Address);
        // SAFETY: the buffer holds a piece and is nobody else's; the caller of `copy_down` vouches for the source.
        let code =
            unsafe { (entered.functions.cuMemcpyDtoHAsync_v2)(buffer.memory, from, length, self.handle()) };
        self.context.check(code, || format!("copying {length} bytes from the device"))?;
        self.record(&buffer)?;
        Ok(buffer)
    }

    /// A buffer that the device has done with: of two that are kept, the one that it was given first.
    fn empty_buffer(&self) -> Result<Buffer, Error> {
        let mut kept = self.staging.lock();
        let known = if kept.len() < 2 { None } else { kept.pop_front() };
        drop(kept);
        let Some(buffer) = known else { return self.new_buffer() };
        self.wait_for(&buffer)?;
        Ok(buffer)
    }

    fn new_buffer(&self) -> Result<Buffer, Error> {
        let mut buffer = Buffer { memory: ptr::null_mut(), done: ptr::null_mut() };
        let entered = self.context.enter()?;
        // SAFETY: the pointer is valid for a write.
        let code = unsafe {
            (entered.functions.cuMemHostAlloc)(&mut buffer.memory, PIECE, ffi::HOST_ALLOCATION_PORTABLE)
        };
        if code == ffi::OUT_OF_MEMORY {
            return Err(ErrorKind::OutOfMemory { what: "page-locked memory", bytes: PIECE as u64 }.into());
        }
        self.context.check(code, || format!("page-locking {PIECE} bytes"))?;
        // SAFETY: as above.
        let code = unsafe { (entered.functions.cuEventCreate)(&mut buffer.done, ffi::EVENT_WITHOUT_TIME) };
        if code != 0 {
            // SAFETY: allocated above.
            unsafe { (entered.functions.cuMemFreeHost)(buffer.memory) };
        }
        self.context.check(code, || "creating an event".into())?;
        Ok(buffer)
    }

    fn record(&self, buffer: &Buffer) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: event and stream live, in the same context.
        let code = unsafe { (entered.functions.cuEventRecord)(buffer.done, self.handle()) };
        self.context.check(code, || "recording an event".into())
    }

    /// Waits until the device has done with a buffer; at once where it has never had it.
    fn wait_for(&self, buffer: &Buffer) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the event lives.
        let code = unsafe { (entered.functions.cuEventSynchronize)(buffer.done) };
        self.context.check(code, || self.waiting())
    }

    fn give_back(&self, buffer: Buffer) {
        let mut kept = self.staging.lock();
        kept.push_back(buffer);
        let surplus = if kept.len() > MOST_KEPT { kept.pop_front() } else { None };
        drop(kept);
        surplus.into_iter().for_each(|buffer| self.free(buffer));
    }

    /// Frees all buffers.
    pub(super) fn free_staging(&self) {
        let all = std::mem::take(&mut *self.staging.lock());
        all.into_iter().for_each(|buffer| self.free(buffer));
    }

    fn free(&self, buffer: Buffer) {
        let Ok(entered) = self.context.enter() else { return };
        // SAFETY: made in `new_buffer`; the driver waits for copies before it frees page-locked memory, and keeps an event until it has happened.
        unsafe {
            (entered.functions.cuMemFreeHost)(buffer.memory);
            (entered.functions.cuEventDestroy_v2)(buffer.done);
        }
    }
}

/// What a thread does with the pieces that it is given, one after another.
type Work<'a> = dyn Fn(&dyn Fn() -> Option<Piece>) -> Result<(), Error> + Sync + 'a;

/// Has so many bytes copied in pieces, by several threads where there are many.
fn in_pieces(bytes: usize, work: &Work<'_>) -> Result<(), Error> {
    let (count, given) = (bytes.div_ceil(PIECE), AtomicUsize::new(0));
    let next = || {
        let index = given.fetch_add(1, Relaxed);
        (index < count).then(|| (index * PIECE, PIECE.min(bytes - index * PIECE)))
    };
    let threads = match count / PIECES_OF_THREAD {
        0 | 1 => 1,
        many => thread::available_parallelism().map_or(1, usize::from).min(many).min(MOST_THREADS),
    };
    if threads == 1 {
        return work(&next);
    }
    thread::scope(|scope| {
        let next = &next;
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(move || work(next))).collect();
        let mut first = work(next);
        for other in others {
            let result = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            first = first.and(result);
        }
        first
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_byte_belongs_to_one_piece() {
        for bytes in [0, 1, PIECE, PIECE + 1, 40 * PIECE - 3] {
            let pieces = Mutex::new(Vec::new());
            in_pieces(bytes, &|next| {
                while let Some(piece) = next() {
                    pieces.lock().expect("held by nobody that failed").push(piece);
                }
                Ok(())
            })
            .expect("nothing fails");
            let mut pieces = pieces.into_inner().expect("as above");
            pieces.sort_unstable();
            assert_eq!(pieces.iter().map(|(_, length)| length).sum::<usize>(), bytes);
            assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0), "{bytes}");
            assert!(pieces.iter().all(|(_, length)| (1..=PIECE).contains(length)), "{bytes}");
        }
    }
}
