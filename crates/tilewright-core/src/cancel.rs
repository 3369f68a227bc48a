//! Ending work that another thread does.

use crate::error::{Error, ErrorKind};
use core::sync::atomic::{AtomicBool, Ordering};

/// The wish that a product end early, which any thread may express. It cannot be taken back.
///
/// ```
/// use tilewright_core::Cancel;
/// static STOP: Cancel = Cancel::new();
/// assert!(STOP.check().is_ok());
/// std::thread::spawn(|| STOP.cancel()).join().unwrap();
/// assert_eq!(STOP.check().unwrap_err().code(), "cancelled");
/// ```
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Nobody wishes that yet.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// From now on, products with this wish end as soon as they look.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether someone wishes that.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(ErrorKind::Cancelled { place: None }.into()) } else { Ok(()) }
    }

    /// What becomes true, for those who look at it in their own way.
    pub const fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
