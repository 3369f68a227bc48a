//! From the statements of a function to instructions over virtual registers.

mod arithmetic;
mod bulk;
mod cluster;
mod control;
mod declare;
mod hot;
mod matrix;
mod mbarrier;
mod memory;
mod operands;
mod rows;
mod special;
mod stack;
mod surface;
mod sync;
mod texture;
mod wgmma;

use std::collections::HashMap;

use super::{
    constants::Constants,
    error::ProgramError,
    function::Function,
    grammar::{self, Split},
    instruction::*,
    layout::{Layout, ModuleName},
    lines::{self, Origin},
    merge,
    names::{Pinned, Registers, Scopes},
    sites::Sites,
};
use crate::parse::ast::{self, FunctionKind, Statement};
use crate::ptx_isa::Type;

/// Most virtual registers of a function: offsets into their rows have 31 bits.
const REGISTERS: usize = 1 << 22;

/// A function before its blocks are cut and its registers have places.
pub struct Lowered<'a> {
    pub code: Vec<Inst>,
    pub origins: Vec<Origin>,
    /// PTX opcode of each instruction; empty for all but the first that a PTX instruction becomes.
    pub opcodes: Vec<&'a str>,
    /// The instruction that each label stands before.
    pub labels: Vec<usize>,
    pub registers: Registers,
    pub function: Function,
}

/// Why an instruction does not become one.
enum Refusal {
    /// It is refused when it is executed.
    Unsupported(String),
    /// Likewise, since it has not the form of its row.
    Form,
    /// The module is wrong.
    Error(ProgramError),
}

type Lowering<T> = Result<T, Refusal>;

/// Operands, types or modifiers are missing, or too many.
fn other_form<T>() -> Lowering<T> {
    Err(Refusal::Form)
}

fn unsupported<T>(why: impl Into<String>) -> Lowering<T> {
    Err(Refusal::Unsupported(why.into()))
}

struct Lowerer<'a, 'm> {
    layout: &'m mut Layout,
    constants: &'m mut Constants,
    sites: &'m mut Sites,
    scopes: Scopes<'a>,
    registers: Registers,
    labels: HashMap<(u32, &'a str), u32>,
    /// `.branchtargets` and `.calltargets`.
    targets: HashMap<(u32, &'a str), Vec<&'a str>>,
    out: Vec<Inst>,
    guard: Guard,
    line: u32,
    /// What an optimising assembler issues in place of the statement at hand.
    issue: Option<Issue>,
    function: Function,
    kind: FunctionKind,
    /// Whether the function has declared vector variables.
    has_vectors: bool,
    /// Results that are registers, and the rows in which they are handed back.
    returned: Vec<(Place, &'a str)>,
    /// Where the next memory begins that the function takes as it runs.
    top: Option<Slot>,
}

/// Lowers one function; a declaration has no code.
pub fn lower<'a>(
    function: &ast::Function<'a>,
    layout: &mut Layout,
    constants: &mut Constants,
    sites: &mut Sites,
    files: &[(u32, &str)],
) -> Result<Lowered<'a>, ProgramError> {
    let mut lowerer = Lowerer {
        layout,
        constants,
        sites,
        scopes: Scopes::new(),
        registers: Registers::default(),
        labels: HashMap::new(),
        targets: HashMap::new(),
        out: Vec::new(),
        guard: Guard::NONE,
        line: function.line,
        issue: None,
        function: info(function),
        kind: function.kind,
        has_vectors: false,
        returned: Vec::new(),
        top: None,
    };
    if function.kind == ast::FunctionKind::Entry {
        lowerer.layout.begin_entry();
    }
    lowerer.parameters(function)?;
    match &function.body {
        Some(body) => lowerer.body(body, files),
        None => Ok(lowerer.done(Vec::new(), Vec::new(), Vec::new())),
    }
}

/// What is known of a function before its body is read.
pub fn info(function: &ast::Function<'_>) -> Function {
    let numbers = |name: &str| function.directives.iter().find(|directive| directive.0 == name).map(|d| &d.1);
    let triple = |numbers: &Vec<u64>| std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(1));
    Function {
        name: function.name.into(),
        kind: function.kind,
        start: None,
        frame_bytes: 0,
        end: 0,
        frame_offset: 0,
        local_bytes: 0,
        locals: Vec::new(),
        params: Vec::new(),
        results: Vec::new(),
        parameters: Vec::new(),
        parameter_bytes: 0,
        unwritten: Vec::new(),
        shared: Vec::new(),
        callees: Vec::new(),
        fault: None,
        required_threads: numbers("reqntid").map(triple),
        required_cluster: numbers("reqnctapercluster")
            .map(triple)
            .map(|cluster| cluster.map(|n| n.min(u64::from(u32::MAX)) as u32)),
        max_threads: numbers("maxntid").map(|n| n.iter().fold(1u64, |product, &n| product.saturating_mul(n))),
    }
}

impl<'a> Lowerer<'a, '_> {
    fn done(self, origins: Vec<Origin>, opcodes: Vec<&'a str>, labels: Vec<usize>) -> Lowered<'a> {
        Lowered {
            code: self.out,
            origins,
            opcodes,
            labels,
            registers: self.registers,
            function: self.function,
        }
    }

    fn body(mut self, body: &[Statement<'a>], files: &[(u32, &str)]) -> Result<Lowered<'a>, ProgramError> {
        let splits = grammar::resolved(body);
        self.number_labels(body);
        self.stack(&splits);
        let mut label_at = vec![usize::MAX; self.labels.len()];
        // What the parameters have needed.
        let mut origins = vec![Origin { ptx_line: self.line, file: 0, line: 0 }; self.out.len()];
        let mut opcodes = vec![""; self.out.len()];
        let mut location = (0, 0);
        self.scopes.restart();
        let mut issues = merge::issues(body, &splits, self.layout);
        for (number, (statement, split)) in body.iter().zip(&splits).enumerate() {
            match statement {
                Statement::OpenScope => self.scopes.enter(),
                Statement::CloseScope => self.scopes.leave(),
                Statement::Label(name) => {
                    if let Some(label) = self.label(name) {
                        label_at[label as usize] = self.out.len();
                    }
                }
                Statement::Variable(variable) => self.declare(variable)?,
                Statement::Location(at) => location = lines::of_user(at, files),
                Statement::Targets(..) | Statement::Prototype(_) | Statement::NoUnroll => {}
                Statement::Instruction(instruction) => {
                    self.issue = issues.remove(&number);
                    if let Some(split) = split {
                        self.statement(instruction, split)?;
                    }
                    let origin = Origin { ptx_line: instruction.line, file: location.0, line: location.1 };
                    origins.resize(self.out.len(), origin);
                    // One instruction of PTX may take several of ours: the first one counts.
                    if opcodes.len() < self.out.len() {
                        opcodes.push(instruction.opcode);
                    }
                    opcodes.resize(self.out.len(), "");
                }
            }
        }
        if self.registers.widths.len() > REGISTERS {
            return Err(ProgramError::Declaration {
                line: self.line,
                name: self.function.name,
                message: format!("uses more than {REGISTERS} registers"),
            });
        }
        // A function that runs off its end returns.
        self.guard = Guard::NONE;
        self.end()?;
        let last = origins.last().copied().unwrap_or(Origin { ptx_line: self.line, file: 0, line: 0 });
        origins.resize(self.out.len(), last);
        opcodes.resize(self.out.len(), "");
        Ok(self.done(origins, opcodes, label_at))
    }

    fn number_labels(&mut self, body: &[Statement<'a>]) {
        for statement in body {
            match statement {
                Statement::OpenScope => self.scopes.enter(),
                Statement::CloseScope => self.scopes.leave(),
                Statement::Label(name) => {
                    let next = self.labels.len() as u32;
                    let scope = self.scopes.numbers().next().unwrap_or(0);
                    self.labels.entry((scope, name)).or_insert(next);
                }
                Statement::Targets(name, targets) => {
                    let scope = self.scopes.numbers().next().unwrap_or(0);
                    self.targets.insert((scope, name), targets.clone());
                }
                _ => {}
            }
        }
    }

    fn label(&self, name: &'a str) -> Option<u32> {
        self.scopes.numbers().find_map(|scope| self.labels.get(&(scope, name)).copied())
    }

    fn statement(
        &mut self,
        instruction: &ast::Instruction<'a>,
        split: &Split<'a>,
    ) -> Result<(), ProgramError> {
        self.line = instruction.line;
        self.guard = Guard::NONE;
        let start = self.out.len();
        let why = match self.guarded(instruction, split) {
            Ok(()) => return Ok(()),
            Err(Refusal::Error(error)) => return Err(error),
            Err(Refusal::Unsupported(why)) => why,
            Err(Refusal::Form) => {
                format!("`{}{}` is expected", split.instruction.name, split.instruction.form)
            }
        };
        self.out.truncate(start);
        self.sites.refusals.push(why);
        self.push(Op::Unsupported, self.sites.refusals.len() as u32 - 1);
        Ok(())
    }

    fn guarded(&mut self, instruction: &ast::Instruction<'a>, split: &Split<'a>) -> Lowering<()> {
        if let Some(guard) = instruction.guard {
            let slot = self.register(guard.predicate)?.slot;
            if slot.width != Width::Predicate {
                return unsupported(format!("the guard `{}` is no predicate", guard.predicate));
            }
            self.guard = Guard { place: slot.place, flip: if guard.when { 0 } else { u32::MAX } };
        }
        match split.lowering() {
            grammar::Lowering::Planned(what) => return unsupported(format!("{what} not supported yet")),
            grammar::Lowering::Unknown => return unsupported(unknown(instruction.opcode)),
            _ => {}
        }
        if let Some(refused) = split.refused() {
            return unsupported(format!("the modifier `.{refused}` is not known"));
        }
        if self.has_vectors {
            let operands: Vec<_> = instruction.operands.iter().map(|operand| self.pieces(operand)).collect();
            return self.instruction(split, &operands);
        }
        self.instruction(split, &instruction.operands)
    }

    /// The end of a function that has no more statements.
    fn end(&mut self) -> Result<(), ProgramError> {
        match self.leave() {
            Err(Refusal::Error(error)) => Err(error),
            Ok(()) | Err(Refusal::Unsupported(_) | Refusal::Form) => Ok(()),
        }
    }

    fn instruction(&mut self, split: &Split<'a>, operands: &[ast::Operand<'a>]) -> Lowering<()> {
        use grammar::Lowering::*;
        match split.lowering() {
            // Refused before their operands are looked at.
            Unknown | Planned(_) => other_form(),
            Nothing => self.plain(Op::Nothing),

            Mov => self.mov(split, operands),
            Scalar(opcode, sources) => self.arithmetic(split, opcode, sources.into(), operands),
            Carry(opcode) => self.carry(split, opcode, CarryUse::Yes, operands),

            Load => self.load(split, operands),
            Store => self.store(split, operands),
            StoreAsync => self.asynchronous(split, operands, Self::store),
            Atomic => self.atomic(split, operands),
            Reduction => self.reduction(split, operands),
            ReductionAsync => self.asynchronous(split, operands, Self::reduction),
            ConvertAddress => self.cvta(split, operands),
            MapAddress => self.mapa(split, operands),
            RankOfAddress => self.rank_of(split, operands),
            IsSpace => self.isspacep(split, operands),
            CachePolicy => self.cache_policy(operands),
            CopyAsync => self.copy_async(operands),
            CommitCopies => self.plain(Rare::CommitGroup),
            WaitForCopies => self.wait_for_copies(operands),
            ArriveAfterCopies => self.copies_arrive(split, operands),
            Bulk { reduces } => self.bulk(split, operands, reduces),
            BulkTensor { reduces } => self.bulk_tensor(split, operands, reduces),
            ReplaceMap => self.replace_map(split, operands),
            CopyMap => self.copy_map(operands),
            AcquireMap => self.acquire_map(operands),
            BulkCommit => self.plain(Rare::BulkCommit),
            BulkWait => self.bulk_wait(operands),

            Branch => self.branch(operands),
            BranchIndexed => self.branch_indexed(operands),
            Call => self.call(operands),
            Return => self.leave(),
            Exit => self.plain(Op::Exit),
            Trap => self.plain(Op::Trap),
            Sleep => self.plain(Rare::Sleep),
            SetRegisters => self.set_registers(operands),

            Barrier { aligned } => self.barrier(split, aligned, operands),
            WarpBarrier => self.warp_sync(operands),
            ClusterArrive => self.plain(Rare::ClusterArrive),
            ClusterWait => self.plain(Rare::ClusterWait),
            Fence => self.fence(split),
            ProxyFence => self.plain(Rare::ProxyFence),
            InitFence => self.plain(Rare::InitFence),
            Shuffle => self.shuffle(split, operands),
            Vote => self.vote(split, operands),
            Match => self.match_sync(split, operands),
            ReduceInWarp => self.redux(split, operands),
            ActiveMask => self.active_mask(operands),
            Elect => self.elect(operands),

            Mbarrier(what) => self.mbarrier(split, what, operands),

            Mma(family) => self.mma(split, operands, family),
            LoadFragment(fragment) => self.load_fragment(split, fragment, operands),
            StoreFragment => self.store_fragment(split, operands),
            LoadMatrix => self.load_matrix(split, operands),
            StoreMatrix => self.store_matrix(split, operands),
            Wgmma => self.wgmma(split, operands),
            WgmmaFence => self.plain(Rare::WgmmaFence),
            WgmmaCommit => self.plain(Rare::WgmmaCommit),
            WgmmaWait => self.wgmma_wait(operands),
            TransposeMatrix => self.transpose(operands),

            Texture => self.sample(split, operands),
            Gather => self.gather(split, operands),
            TextureQuery => self.texture_query(split, operands),
            SurfaceLoad => self.surface_load(split, operands),
            SurfaceStore => self.surface_store(split, operands),
            SurfaceQuery => self.surface_query(split, operands),

            Alloca => self.alloca(operands),
            StackSave => self.stack_save(operands),
            StackRestore => self.stack_restore(operands),
        }
    }

    /// An instruction that has nothing but its operation.
    fn plain(&mut self, op: impl Into<Op>) -> Lowering<()> {
        self.push(op, 0);
        Ok(())
    }

    /// Appends an instruction under the guard of the statement.
    fn push(&mut self, op: impl Into<Op>, aux: u32) -> &mut Inst {
        let inst = Inst {
            op: op.into(),
            aux,
            dst: Place::NONE,
            a: Place::NONE,
            b: Place::NONE,
            c: Place::NONE,
            guard: self.guard,
        };
        self.out.push(inst);
        let last = self.out.len() - 1;
        &mut self.out[last]
    }

    fn temporary(&mut self, width: Width) -> Slot {
        self.registers.add(width, Pinned::No)
    }

    fn undeclared<T>(&self, name: &str) -> Lowering<T> {
        if name.contains('.') {
            return unsupported(format!("`{name}`, a part of a register, is not supported here"));
        }
        Err(Refusal::Error(ProgramError::Undeclared { line: self.line, name: name.into() }))
    }

    /// A name at module scope.
    fn module_name(&self, name: &str) -> Option<ModuleName> {
        self.layout.names.get(name).copied()
    }
}

/// Why an opcode without a row is refused.
fn unknown(opcode: &str) -> String {
    match grammar::namesakes(opcode)[..] {
        [] => "this opcode is not known".into(),
        ref names => format!("this opcode is not known; there are `{}`", names.join("`, `")),
    }
}

/// The natural storage of a type; 128-bit values are refused.
fn width_of(ty: Type) -> Lowering<Width> {
    match Width::of(ty) {
        Some(width) => Ok(width),
        None => unsupported("128-bit registers are not supported"),
    }
}
