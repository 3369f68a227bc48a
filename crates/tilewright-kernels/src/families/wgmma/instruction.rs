//! The text of the one instruction that a program multiplies with.

use crate::families::tensor_cores::Element;
use core::fmt::Write;

/// A function `multiply_add` of `wgmma` for 64 rows, `n` columns and the terms of 32 bytes. An operand that lies by terms is not transposed.
///
/// The instruction names all registers of its sums, so that its text depends on their number.
pub(super) fn multiply_add(element: &Element, n: u32, by_terms: [bool; 2]) -> String {
    let Element { name, sums: of_sums, bytes, .. } = element;
    let sums = n / 2;
    let list = |item: &dyn Fn(u32) -> String| (0..sums).map(item).collect::<Vec<_>>().join(", ");
    let constraint = if *of_sums == "s32" { "+r" } else { "+f" };
    let (registers, outputs) = (list(&|i| format!("%{i}")), list(&|i| format!("\"{constraint}\"(d[{i}])")));
    let [transposes_a, transposes_b] = by_terms.map(|by_terms| u32::from(!by_terms));
    // Integers have no signs of operands, and only 16 bits may lie across.
    let signs = if *of_sums == "s32" { "" } else { ", 1, 1" };
    let transposes = if element.across { format!(", {transposes_a}, {transposes_b}") } else { String::new() };
    let (terms, a, b, adds) = (32 / bytes, sums, sums + 1, sums + 2);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "// d = a b, plus d where it adds: the operands by their descriptors.
__device__ __forceinline__ void multiply_add(Acc (&d)[{sums}], unsigned long long a, unsigned long long b, int adds)
{{
    asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{adds}, 0;\\n\"
                 \"wgmma.mma_async.sync.aligned.m64n{n}k{terms}.{of_sums}.{name}.{name} {{{registers}}}, %{a}, %{b}, p{signs}{transposes};\\n}}\"
                 : {outputs}
                 : \"l\"(a), \"l\"(b), \"r\"(adds));
}}
"
    );
    text
}
