//! What `libcudadevrt.a` gives to cooperative groups, as PTX of our own: the library holds machine code.
//!
//! Numba links it for `grid.sync()`. The counter at which blocks meet is that of `cooperative_groups`: block 0 adds what makes
//! the highest bit change with the arrival of the last block, whichever that is.

/// Functions of the library, by name.
const FUNCTIONS: [(&str, &str); 2] =
    [("cudaCGGetIntrinsicHandle", GET_HANDLE), ("cudaCGSynchronize", SYNCHRONIZE)];

const GET_HANDLE: &str = "
.func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .b32 %low, %high;
    .reg .b64 %place;
    mov.u32 %low, %envreg2;
    mov.u32 %high, %envreg1;
    mov.b64 %place, {%low, %high};
    st.param.b64 [handle], %place;
    ret;
}
";

const SYNCHRONIZE: &str = "
.func (.param .b32 code) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .b32 %low, %high, %x, %y, %z, %step, %blocks, %old, %new;
    .reg .b64 %place;
    .reg .pred %p;
    mov.u32 %low, %envreg2;
    mov.u32 %high, %envreg1;
    mov.b64 %place, {%low, %high};
    setp.ne.u64 %p, %place, 0;
    @%p bra MEET;
    trap;
MEET:
    bar.sync 0;
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %z, %tid.z;
    or.b32 %x, %x, %y;
    or.b32 %x, %x, %z;
    setp.ne.u32 %p, %x, 0;
    @%p bra LEAVE;
    mov.u32 %x, %nctaid.x;
    mov.u32 %y, %nctaid.y;
    mov.u32 %z, %nctaid.z;
    mul.lo.u32 %blocks, %x, %y;
    mul.lo.u32 %blocks, %blocks, %z;
    mov.u32 %x, %ctaid.x;
    mov.u32 %y, %ctaid.y;
    mov.u32 %z, %ctaid.z;
    or.b32 %x, %x, %y;
    or.b32 %x, %x, %z;
    setp.eq.u32 %p, %x, 0;
    sub.u32 %step, 0x80000001, %blocks;
    selp.u32 %step, %step, 1, %p;
    membar.gl;
    atom.global.add.u32 %old, [%place+4], %step;
AGAIN:
    ld.acquire.gpu.global.u32 %new, [%place+4];
    xor.b32 %new, %new, %old;
    setp.ge.s32 %p, %new, 0;
    @%p bra AGAIN;
    membar.gl;
LEAVE:
    bar.sync 0;
    st.param.b32 [code], 0;
    ret;
}
";

/// A member of the archive. The names of its functions are in compressed parts.
const MEMBER: &[u8] = b"cuda_device_runtime";

/// Whether an archive is the library.
pub(crate) fn is_library(archive: &[u8]) -> bool {
    archive.starts_with(b"!<arch>\n") && archive.windows(MEMBER.len()).any(|window| window == MEMBER)
}

/// A module with the functions in place of their declarations.
pub(crate) fn linked(ptx: &str) -> String {
    let mut pieces = ptx.split(".extern .func");
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (declared, rest) = piece.split_once(';').unwrap_or((piece, ""));
        match FUNCTIONS.iter().find(|(name, _)| declares(declared, name)) {
            Some((_, function)) => whole += function,
            None => whole = whole + ".extern .func" + declared + ";",
        }
        whole += rest;
    }
    whole
}

/// Whether a declaration is of the function: the name is a word of it.
fn declares(declared: &str, name: &str) -> bool {
    declared.split(|c: char| !(c.is_alphanumeric() || "_$".contains(c))).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_the_library_become_functions_and_others_stay() {
        let ptx = ".version 8.0\n.extern .func (.param .b32 r) other (.param .b64 a);\n\
                   .extern .func  (.param .b32 r) cudaCGSynchronize\n(\n.param .b64 a,\n.param .b32 b\n)\n;\n.visible .entry k() { ret; }\n";
        let whole = linked(ptx);
        assert!(whole.contains(".extern .func (.param .b32 r) other (.param .b64 a);"), "{whole}");
        assert!(whole.contains("ld.acquire.gpu") && !whole.contains("param .b32 b\n"), "{whole}");
        assert!(whole.ends_with(".visible .entry k() { ret; }\n"), "{whole}");
        assert_eq!(linked(".version 8.0\n"), ".version 8.0\n");
        assert!(is_library(b"!<arch>\n..cuda_device_runtime.o/") && !is_library(b"cuda_device_runtime.o"));
    }
}
