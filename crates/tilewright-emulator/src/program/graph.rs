//! Who calls whom.

use super::{
    error::ProgramError,
    function::Function,
    image::Program,
    instruction::{CallTarget, Op, Special},
    sites::Sites,
};

/// Whether the call graph has a circle, or calls that it does not show.
pub fn is_recursive(functions: &[Function], sites: &Sites) -> bool {
    if sites.calls.iter().any(|site| matches!(site.target, CallTarget::Indirect(_))) {
        return true;
    }
    // Functions whose callees are all done are done; what is left lies on a circle or above one.
    let mut done = vec![false; functions.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, function) in functions.iter().enumerate() {
            if !done[index] && function.callees.iter().all(|&callee| done[callee as usize]) {
                done[index] = true;
                changed = true;
            }
        }
    }
    done.contains(&false)
}

impl Program {
    /// `function` and all that it may call.
    pub(crate) fn reached<'a>(&'a self, function: &'a Function) -> Vec<&'a Function> {
        let (mut reached, mut next) = (vec![function], 0);
        while let Some(&function) = reached.get(next) {
            for callee in function.callees.iter().map(|&callee| &self.functions[callee as usize]) {
                if !reached.iter().any(|known| std::ptr::eq(*known, callee)) {
                    reached.push(callee);
                }
            }
            next += 1;
        }
        reached
    }

    /// Whether the function of the instruction at `pc` asks where the blocks of a cooperative launch meet.
    pub(crate) fn meets_as_grid(&self, pc: u32) -> bool {
        let is_home =
            |function: &&Function| (function.start.unwrap_or(function.end)..function.end).contains(&pc);
        let Some(home) = self.functions.iter().find(is_home) else { return false };
        let mut code = self.code[home.start.unwrap_or(home.end) as usize..home.end as usize].iter();
        code.any(|inst| inst.op == Op::Read(Special::GridWorkspace))
    }

    /// What is wrong with `function`, or with one that it may call: which one, and what.
    pub(crate) fn fault<'a>(&'a self, function: &'a Function) -> Option<(&'a str, &'a ProgramError)> {
        let reached = self.reached(function).into_iter();
        reached.filter_map(|function| Some((function.name.as_str(), function.fault.as_ref()?))).next()
    }

    /// Bytes of local memory of a thread that executes `entry`: those of all functions, if it may use any.
    pub(crate) fn local_bytes_of(&self, entry: &Function) -> u32 {
        let uses_any = self.reached(entry).iter().any(|function| function.local_bytes > 0);
        if uses_any { self.locals.bytes() } else { 0 }
    }
}
