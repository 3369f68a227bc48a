//! Several streams of one device, and points in them.

use super::Engine;
use crate::device::{Event, Order, Priority, Stream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tilewright_core::{Error, ErrorKind};

/// How long the host sleeps at least and at most until it looks again.
const NAP: [Duration; 2] = [Duration::from_micros(10), Duration::from_micros(100)];

/// A point in the work of an engine.
#[derive(Debug)]
pub struct Mark(Event);

impl Mark {
    /// Whether the work before it is done; nothing waits.
    ///
    /// # Errors
    /// `device` when a kernel has failed.
    pub fn is_passed(&self) -> Result<bool, Error> {
        self.0.has_happened()
    }

    /// Waits until it is passed, and looks time and again whether waiting makes sense: work may wait for another device that has failed.
    ///
    /// # Errors
    /// As [`Mark::is_passed`]; whatever `look` says. Work is still under way then.
    pub fn wait_while(&self, mut look: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let mut nap = NAP[0];
        while !self.is_passed()? {
            look()?;
            thread::sleep(nap);
            nap = (nap * 2).min(NAP[1]);
        }
        Ok(())
    }

    /// Seconds from an earlier mark of the same device to this one, by its clock; waits until this one is passed.
    ///
    /// # Errors
    /// As [`Mark::is_passed`].
    pub fn seconds_since(&self, earlier: &Self) -> Result<f64, Error> {
        self.0.seconds_since(&earlier.0)
    }
}

impl Engine {
    /// An engine of the same device whose work runs beside that of this one, in a stream of its own. It shares the kernels that were compiled. Where blocks of kernels wait for room, those of the new engine go first.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatRef, SemiringId};
    /// use tilewright_cuda::{DeviceProduct, Engine};
    /// let engine = Engine::emulated(tilewright_arch::Gpu::default())?;
    /// let urgent = engine.beside()?;
    /// let l = Layout::row_major(2, 2);
    /// let a = urgent.upload(MatRef::new(&[1, 2, 3, 4], l)?)?;
    /// let mut c = urgent.zeros::<i32>(l)?;
    /// urgent.multiply(&DeviceProduct::new(SemiringId::MaxPlus), &a, &a, &mut c)?;
    /// // Work of `engine` finds the result from here on.
    /// engine.wait_for_engine(&urgent)?;
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `device` where the driver makes no stream.
    pub fn beside(&self) -> Result<Self, Error> {
        let stream = Stream::with_priority(Arc::clone(self.context()), Priority::First)?;
        let kernels = Arc::clone(&self.0.kernels);
        Ok(Self::with_kernels(stream, self.0.cache.clone(), kernels))
    }

    /// Lets work that is asked for from now on wait for what the other engine has been asked for. It may be this one: then nothing is to be done.
    ///
    /// # Errors
    /// `unsupported` for an engine that was not made by [`Engine::beside`] of this one, or the reverse; `device` where the driver fails.
    pub fn wait_for_engine(&self, other: &Self) -> Result<(), Error> {
        if Arc::ptr_eq(self.stream(), other.stream()) {
            return Ok(());
        }
        if !Arc::ptr_eq(self.context(), other.context()) {
            let (what, why) = ("waiting for that engine", "it was opened apart");
            let hint = "make it by Engine::beside".into();
            return Err(ErrorKind::Unsupported { what: what.into(), why: why.into(), hint }.into());
        }
        // SAFETY: both are streams of one context.
        unsafe { self.stream().order(other.stream().handle(), Order::AfterOther) }
    }

    /// Marks the end of the work that was asked for.
    ///
    /// # Errors
    /// `device` where the driver fails.
    pub fn mark(&self) -> Result<Mark, Error> {
        let event = Event::new(self.stream())?;
        event.record().map(|()| Mark(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_of_one_device_wait_for_each_other() {
        let engine = Engine::fake();
        let beside = engine.beside().expect("the fake driver refuses nothing");
        assert!(!Arc::ptr_eq(engine.stream(), beside.stream()));
        engine.wait_for_engine(&beside).expect("one device");
        beside.wait_for_engine(&engine).expect("one device");
        engine.wait_for_engine(&engine).expect("nothing to wait for");
        let error = engine.wait_for_engine(&Engine::fake()).expect_err("two contexts");
        assert_eq!(error.code(), "unsupported");
    }

    #[test]
    fn a_mark_is_passed_when_the_work_before_it_is_done() {
        let mark = Engine::fake().mark().expect("the fake driver refuses nothing");
        assert!(mark.is_passed().expect("nothing has failed"));
    }
}
