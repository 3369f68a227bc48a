//! Whether there are the tile registers of AMX, and this process may use them.

use core::arch::{asm, x86_64::__cpuid_count};
use std::sync::LazyLock;

/// Whether this processor has AMX for bytes, and the system lets this process use it, which it is asked for once.
pub fn are_there() -> bool {
    static THERE: LazyLock<bool> = LazyLock::new(|| has_instructions() && is_permitted());
    *THERE
}

/// Whether the processor has AMX-TILE and AMX-INT8, and the system saves its state.
fn has_instructions() -> bool {
    const OSXSAVE: u32 = 1 << 27;
    const TILE_AND_INT8: u32 = 3 << 24;
    const STATE: u64 = 3 << 17;
    #[allow(unused_unsafe, reason = "later compilers than the oldest supported one know that it is safe")]
    // SAFETY: every x86-64 processor has the instruction.
    let cpuid = |leaf| unsafe { __cpuid_count(leaf, 0) };
    if cpuid(0).eax < 7 || cpuid(1).ecx & OSXSAVE == 0 || cpuid(7).edx & TILE_AND_INT8 != TILE_AND_INT8 {
        return false;
    }
    let (low, high): (u32, u32);
    // SAFETY: the system has enabled the instruction, which reads a register.
    unsafe {
        asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags))
    };
    (u64::from(high) << 32 | u64::from(low)) & STATE == STATE
}

/// Asks the system for the state of tile registers, 8 KiB a thread, which it gives to those who ask.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: isize = 158;
    const REQUEST_PERMISSION: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let answer: isize;
    // SAFETY: the call changes no memory; it leaves what is named here.
    unsafe {
        asm!("syscall", inlateout("rax") ARCH_PRCTL => answer, in("rdi") REQUEST_PERMISSION, in("rsi") TILE_DATA,
            out("rcx") _, out("r11") _, options(nostack));
    }
    answer == 0
}
#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}
