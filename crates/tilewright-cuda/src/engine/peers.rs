//! Matrices of several devices, and copies between them.

use super::Engine;
use crate::device::{DeviceMut, DeviceRef, DynDeviceMatrix};
use crate::ffi::driver as ffi;
use tilewright_core::{Error, ErrorKind, Layout};

/// Where the memory of a matrix is, for engines of other devices in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddress {
    /// The driver's handle of the device's context.
    pub context: usize,
    /// Where the memory begins; 0 where there is none.
    pub address: u64,
}

impl Engine {
    /// Copies a part of a matrix to another one, behind the work that was asked for before.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatRef};
    /// use tilewright_cuda::{DeviceMut, DeviceRef, Engine};
    /// # let engine = Engine::emulated(tilewright_arch::Gpu::default())?;
    /// let l = Layout::row_major(2, 2);
    /// let a = engine.upload(MatRef::new(&[1, 2, 3, 4], l)?)?;
    /// let mut c = engine.zeros::<i32>(l)?;
    /// engine.copy(DeviceRef::from(&a).window(0, 1, 2, 1)?, DeviceMut::from(&mut c).window(0, 0, 2, 1)?)?;
    /// assert_eq!(c.to_matrix()?.as_slice(), [2, 0, 4, 0]);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `result-mismatch` and `dtype-mismatch` where they differ; `unsupported` unless elements of a row lie side by side; `device` where the driver fails.
    pub fn copy<'a>(
        &self,
        from: impl Into<DeviceRef<'a>>,
        to: impl Into<DeviceMut<'a>>,
    ) -> Result<(), Error> {
        let (from, to) = (from.into(), to.into());
        let to = to.as_ref();
        let (Layout { rows, cols, .. }, Layout { rows: m, cols: n, .. }) = (from.layout(), to.layout());
        if (rows, cols) != (m, n) {
            return Err(ErrorKind::ResultMismatch { what: "the source", rows, cols, m, n }.into());
        }
        let (expected, found, size) = (to.dtype(), from.dtype(), from.dtype().size());
        if expected != found {
            return Err(ErrorKind::DTypeMismatch { what: "the source", expected, found }.into());
        }
        if from.layout().is_empty() {
            return Ok(());
        }
        let pitch = |matrix: DeviceRef<'_>| {
            let Layout { rows, cols, row_stride, col_stride } = matrix.layout();
            let stride = if rows == 1 { cols } else { usize::try_from(row_stride).unwrap_or(0) };
            let is_ours = std::sync::Arc::ptr_eq(matrix.matrix().stream(), self.stream());
            (is_ours && (col_stride == 1 || cols == 1) && stride >= cols).then_some(stride * size)
        };
        let (Some(from_pitch), Some(to_pitch)) = (pitch(from), pitch(to)) else {
            let what = "a copy of these parts on the device".into();
            let why = "they belong to another engine, or elements of a row lie apart".into();
            let hint = "copy matrices of one engine, row by row".into();
            return Err(ErrorKind::Unsupported { what, why, hint }.into());
        };
        let (source, target) = ((from.address(), from_pitch), (to.address(), to_pitch));
        // SAFETY: rows inside two matrices of this engine, one of which is borrowed exclusively; their memory is freed behind the work in its stream.
        unsafe { self.stream().copy_rows(source, target, (cols * size, rows)) }
    }

    /// Where another device finds a matrix of this one.
    pub fn peer_address(&self, matrix: &DynDeviceMatrix) -> PeerAddress {
        PeerAddress { context: self.context().address(), address: matrix.memory().address() }
    }

    /// Copies the first `bytes` bytes of a matrix of another device to this one's, behind the work that this engine was asked for before.
    ///
    /// # Errors
    /// `out-of-bounds` for more bytes than there are here; `device` where the driver fails.
    ///
    /// # Safety
    /// The address was told by another engine of this process, whose matrix has so many bytes. They stay, and nothing writes to them, until this engine's work has been done.
    pub unsafe fn copy_from_peer(
        &self,
        from: PeerAddress,
        to: &mut DynDeviceMatrix,
        bytes: usize,
    ) -> Result<(), Error> {
        let (layout, len) = (to.layout(), to.bytes());
        if bytes > len {
            return Err(ErrorKind::OutOfBounds { layout, origin: bytes, len }.into());
        }
        let entered = self.context().enter()?;
        let to = (to.memory().address(), self.context().address() as ffi::Context);
        // SAFETY: the caller's promise; there is room for so many bytes here.
        let code = unsafe {
            (entered.functions.cuMemcpyPeerAsync)(
                to.0,
                to.1,
                from.address,
                from.context as ffi::Context,
                bytes,
                self.stream().handle(),
            )
        };
        self.context().check(code, || format!("copying {bytes} bytes from another device"))
    }

    /// Whether all work is done; nothing waits.
    ///
    /// # Errors
    /// As [`Engine::synchronize`].
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        let entered = self.context().enter()?;
        // SAFETY: the stream lives as long as the engine.
        let code = unsafe { (entered.functions.cuStreamQuery)(self.stream().handle()) };
        if code == ffi::NOT_READY {
            return Ok(false);
        }
        self.context().check(code, || self.stream().waiting()).map(|()| true)
    }

    pub(crate) fn enter(&self) -> Result<crate::device::Entered<'_>, Error> {
        self.context().enter()
    }

    /// Whether its kernels are executed by the emulated driver of this process.
    #[cfg(feature = "emulated")]
    pub(crate) fn is_emulated_here(&self) -> bool {
        self.context().is_emulated_here()
    }
}
