//! The text of the one instruction that a program multiplies with.

use core::fmt::Write;
use tilewright_core::DType;

/// A function `multiply_add` of `wgmma` for 64 rows, `n` columns and 16 terms. An operand that lies by terms is not transposed.
///
/// The instruction names all registers of its sums, so that its text depends on their number.
pub(super) fn multiply_add(dtype: DType, n: u32, by_terms: [bool; 2]) -> String {
    let sums = n / 2;
    let list = |item: &dyn Fn(u32) -> String| (0..sums).map(item).collect::<Vec<_>>().join(", ");
    let (registers, outputs) = (list(&|i| format!("%{i}")), list(&|i| format!("\"+f\"(d[{i}])")));
    let [transposes_a, transposes_b] = by_terms.map(|by_terms| u32::from(!by_terms));
    let element = if dtype == DType::F16 { "f16" } else { "bf16" };
    let (a, b, adds) = (sums, sums + 1, sums + 2);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "// d = a b, plus d where it adds: the operands by their descriptors.
__device__ __forceinline__ void multiply_add(float (&d)[{sums}], unsigned long long a, unsigned long long b, int adds)
{{
    asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{adds}, 0;\\n\"
                 \"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{element}.{element} {{{registers}}}, %{a}, %{b}, p, 1, 1, {transposes_a}, {transposes_b};\\n}}\"
                 : {outputs}
                 : \"l\"(a), \"l\"(b), \"r\"(adds));
}}
"
    );
    text
}
