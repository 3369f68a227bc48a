//! Expressions as CUDA C++, an operation a line: no text of the user's gets there.

use crate::scalar::Scalar;
use core::fmt::Write;
use tilewright_core::{
    DType, Value,
    expressions::{Binary, Expression, Node, Unary},
};

/// The body of a function of `x` and `y`.
pub(super) fn body(expression: &Expression, dtype: DType) -> String {
    let mut text = String::new();
    for (i, node) in expression.nodes().iter().enumerate() {
        let value = match *node {
            Node::X => "x".into(),
            Node::Y => "y".into(),
            // The laws were tried, and so the type has it.
            Node::Number(x) => literal(Scalar::of(dtype, x.value(dtype).unwrap_or(Value::Int(0)))),
            Node::Unary(Unary::Not, x) => format!("T(v{x} == T(0))"),
            Node::Unary(operation, x) => format!("Operations<T>::{}(v{x})", of_one(operation)),
            Node::Binary(operation, x, y) => binary(operation, x, y),
            Node::Choose(condition, yes, no) => format!("v{condition} != T(0) ? v{yes} : v{no}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "        const T v{i} = {value};");
    }
    let _ = writeln!(text, "        return v{};", expression.nodes().len().saturating_sub(1));
    text
}

fn of_one(operation: Unary) -> &'static str {
    if operation == Unary::Absolute { "absolute" } else { "negate" }
}

fn binary(operation: Binary, x: usize, y: usize) -> String {
    let function = |name: &str| format!("Operations<T>::{name}(v{x}, v{y})");
    let compared = |symbol: &str| format!("T(v{x} {symbol} v{y})");
    match operation {
        Binary::Add => function("add"),
        Binary::Subtract => function("subtract"),
        Binary::Multiply => function("multiply"),
        Binary::Divide => function("divide"),
        Binary::Min => function("smaller"),
        Binary::Max => function("larger"),
        Binary::Less => compared("<"),
        Binary::LessEqual => compared("<="),
        Binary::Greater => compared(">"),
        Binary::GreaterEqual => compared(">="),
        Binary::Equal => compared("=="),
        Binary::NotEqual => compared("!="),
        Binary::And => format!("T(v{x} != T(0) && v{y} != T(0))"),
        Binary::Or => format!("T(v{x} != T(0) || v{y} != T(0))"),
    }
}

/// Where ⊕ is a minimum or maximum, how a sum, which is then never NaN, meets a term: doubles have no instruction for the general case.
pub(super) fn sum_of_selection(add: &Expression) -> Option<&'static str> {
    match *add.nodes() {
        [Node::X, Node::Y, Node::Binary(operation, 0, 1)]
        | [Node::Y, Node::X, Node::Binary(operation, 0, 1)] => match operation {
            Binary::Min => Some("Smallest<T>::select(sum, term)"),
            Binary::Max => Some("Largest<T>::select(sum, term)"),
            _ => None,
        },
        _ => None,
    }
}

/// A number by its bits.
pub(super) fn literal(number: Scalar) -> String {
    match number {
        Scalar::F32(x) => format!("__uint_as_float({:#x}u)", x.to_bits()),
        Scalar::F64(x) => format!("__longlong_as_double({:#x})", x.to_bits()),
        Scalar::I32(x) => format!("int({:#x}u)", x.cast_unsigned()),
        Scalar::I64(x) => format!("(long long)({:#x}ull)", x.cast_unsigned()),
    }
}

/// How many operations there are.
pub(super) fn operations(expression: &Expression) -> usize {
    let is_operation = |node: &&Node| !matches!(node, Node::X | Node::Y | Node::Number(_));
    expression.nodes().iter().filter(is_operation).count()
}
