//! Addresses: every variable and allocation has a region of the address space to itself.
//!
//! A pointer that runs past its allocation, however far, stays in the region of that allocation, so that the address alone says which
//! object a pointer was made from. No other record of provenance is needed.

use std::collections::HashMap;

use super::error::ProgramError;
use crate::parse::ast::{self, Generic, Immediate, Init, Linkage, StateSpace};
use crate::ptx_isa::Type;

/// The map of the 64-bit address space.
pub mod address {
    /// log2 of the bytes of a region of global memory.
    pub const REGION_SHIFT: u32 = 37;
    /// Where in its region an allocation starts: in the middle, so that negative indices stay inside too.
    pub const REGION_BASE: u64 = 1 << (REGION_SHIFT - 1);
    /// log2 of the bytes of the region of a shared variable, in 32-bit shared addresses.
    pub const SHARED_SHIFT: u32 = 24;
    /// Where in its region a shared variable starts.
    pub const SHARED_BASE: u64 = 1 << (SHARED_SHIFT - 1);
    /// Generic addresses of shared memory start here. The windows lie in region 0, where no allocation is.
    pub const SHARED_WINDOW: u64 = 1 << 33;
    /// Generic addresses of local memory.
    pub const LOCAL_WINDOW: u64 = 1 << 34;
    /// Generic addresses of the parameters of the entry.
    pub const PARAM_WINDOW: u64 = 1 << 35;
    /// Addresses of functions.
    pub const CODE_WINDOW: u64 = 1 << 36;
    /// Bytes of the smallest window.
    pub const WINDOW_BYTES: u64 = 1 << 32;

    /// The first address of the allocation of region `region`.
    pub const fn of_region(region: u64) -> u64 {
        (region << REGION_SHIFT) + REGION_BASE
    }

    /// Set in the addresses of shared variables of the own block, near their bounds; clear in those of blocks of the cluster by their ranks.
    pub const OWN_BLOCK: u64 = SHARED_BASE;
    /// Where an address has the rank of a block in its cluster.
    pub const RANK_SHIFT: u32 = 18;
    /// The offset in such an address: more than a block has of shared memory.
    pub const CLUSTER_OFFSET: u64 = (1 << RANK_SHIFT) - 1;
    /// What such an address has in place of the upper part of an offset: the rank, and the mark of the own block.
    pub const RANK_FIELD: u64 = (SHARED_BASE << 1) - 1 - CLUSTER_OFFSET;

    /// An address of the own block as that of the block with this rank.
    pub const fn by_rank(address: u64, rank: u32) -> u64 {
        address & !RANK_FIELD | (rank as u64) << RANK_SHIFT
    }

    /// The rank of the block in an address by rank.
    pub const fn rank_of(address: u64) -> Option<u32> {
        let field = address & RANK_FIELD;
        if field & OWN_BLOCK == 0 { Some((field >> RANK_SHIFT) as u32) } else { None }
    }

    /// The same place in the own block's shared memory.
    pub fn without_rank(address: u64) -> u64 {
        if rank_of(address).is_some() { address & !RANK_FIELD | OWN_BLOCK } else { address }
    }

    /// The window of a generic address, or 0.
    pub fn window(at: u64) -> u64 {
        [SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW]
            .into_iter()
            .find(|&window| at.wrapping_sub(window) < WINDOW_BYTES)
            .unwrap_or(0)
    }

    /// Where the region of shared variable `index` begins.
    pub const fn of_shared(index: u64) -> u64 {
        (index << SHARED_SHIFT) + SHARED_BASE
    }
}

/// A module variable in global or constant memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// From the first region of the program on, in order.
    pub region: u64,
    /// Bytes.
    pub bytes: u64,
    /// What it holds at load time, where that is not zero: offsets and bytes. So a program takes no more than its text says.
    pub contents: Vec<(u64, Vec<u8>)>,
    /// Whether PTX gives it values; otherwise it is zero.
    pub initialised: bool,
    /// Where the compiler may not write.
    pub constant: Constancy,
}

/// Whether a variable lies in constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constancy {
    /// `.const`.
    Constant,
    /// `.global`.
    Writable,
}

/// A shared variable.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// The name; dynamic shared memory is called by its first name.
    pub name: String,
    /// Bytes; 0 for dynamic shared memory.
    pub bytes: u64,
    /// Alignment.
    pub align: u64,
    /// Its number in addresses.
    pub slot: u32,
    /// Where it lies in the shared memory of its block, as descriptors of matrices name it: the low bits of its address.
    pub start: u32,
}

/// Whose a shared variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedScope {
    /// Several functions may use it.
    Module,
    /// Only this entry; other entries use the same numbers.
    Entry,
}

/// Numbers of shared variables: those of the module from below, those of entries from above.
#[derive(Clone, Debug)]
struct SharedSlots {
    next: u32,
    next_of_entry: u32,
    lowest_of_entries: u32,
}

impl Default for SharedSlots {
    fn default() -> Self {
        // 0 is that of dynamic shared memory.
        Self { next: 1, next_of_entry: SHARED_SLOTS, lowest_of_entries: SHARED_SLOTS + 1 }
    }
}

/// Where shared variables lie, as far as the low bits of addresses tell it: dynamic memory from 0 upwards, the others from the top
/// downwards, so that no two meet that a kernel has room for. Variables of different entries share their places.
#[derive(Clone, Debug)]
struct SharedPlaces {
    lowest_of_module: u32,
    lowest_of_entry: u32,
    lowest_of_entries: u32,
}

impl Default for SharedPlaces {
    fn default() -> Self {
        let [lowest_of_module, lowest_of_entry, lowest_of_entries] = [SharedPlaces::TOP; 3];
        Self { lowest_of_module, lowest_of_entry, lowest_of_entries }
    }
}

impl SharedPlaces {
    const TOP: u32 = address::CLUSTER_OFFSET as u32 + 1;
    /// Rows of all banks do not straddle the beginning of a variable.
    const ALIGN: u64 = 128;

    fn take(&mut self, scope: SharedScope, bytes: u64, align: u64) -> u32 {
        let below = match scope {
            SharedScope::Module => self.lowest_of_module.min(self.lowest_of_entries),
            SharedScope::Entry => self.lowest_of_entry,
        };
        // One that has no room below the others, or none at all, is refused when it is launched.
        let end = if bytes > below.into() { Self::TOP } else { below };
        let start = u64::from(end).saturating_sub(bytes) / align.max(Self::ALIGN) * align.max(Self::ALIGN);
        let start = start as u32;
        self.lowest_of_entry = start;
        match scope {
            SharedScope::Module => self.lowest_of_module = start,
            SharedScope::Entry => self.lowest_of_entries = self.lowest_of_entries.min(start),
        }
        start
    }
}

/// Shared variables that addresses can tell apart beside dynamic memory.
const SHARED_SLOTS: u32 = 254;

impl SharedSlots {
    fn take(&mut self, scope: SharedScope) -> Option<u32> {
        let (slot, is_free) = match scope {
            SharedScope::Module => (self.next, self.next < self.lowest_of_entries),
            SharedScope::Entry => (self.next_of_entry, self.next_of_entry >= self.next),
        };
        match scope {
            _ if !is_free => return None,
            SharedScope::Module => self.next += 1,
            SharedScope::Entry => {
                self.next_of_entry -= 1;
                self.lowest_of_entries = self.lowest_of_entries.min(slot);
            }
        }
        Some(slot)
    }
}

/// A device symbol as the host sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The (mangled) name.
    pub name: String,
    /// Device address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name in PTX.
    pub name: String,
    /// Bytes from the start of the parameter block.
    pub offset: usize,
    /// Bytes.
    pub bytes: usize,
}

/// What a name at module scope stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleName {
    /// A global or constant variable at this address.
    Address(u64),
    /// Shared variable with this index.
    Shared(u32),
    /// Function with this index.
    Function(u32),
}

/// Most bytes of a variable: behind it, half of its region is left.
pub const VARIABLE_BYTES: u64 = address::REGION_BASE - 1;

/// Bytes of a variable without its open dimension; `None` on overflow.
pub fn bytes_of(variable: &ast::Variable<'_>) -> Option<u64> {
    let mut bytes = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    for dim in &variable.dims {
        bytes = bytes.checked_mul(dim.unwrap_or(1))?;
    }
    let open = variable.dims.first() == Some(&None);
    if open { bytes.checked_mul(elements(&variable.init)) } else { Some(bytes) }
}

fn elements(init: &[Init<'_>]) -> u64 {
    init.iter().filter(|init| matches!(init, Init::Value(_) | Init::Address { .. })).count() as u64
}

/// Alignment of a variable.
pub fn align_of(variable: &ast::Variable<'_>) -> u64 {
    u64::from(variable.align.unwrap_or(variable.ty.bytes() * variable.vector).max(1))
}

/// Size with a check against absurd modules.
pub fn checked_bytes(variable: &ast::Variable<'_>, limit: u64) -> Result<u64, ProgramError> {
    let bytes = bytes_of(variable);
    if let Some(bytes) = bytes.filter(|&bytes| bytes <= limit) {
        return Ok(bytes);
    }
    let size = bytes.map_or("2^64 bytes or more".into(), |bytes| format!("{bytes} bytes"));
    Err(ProgramError::Declaration {
        line: variable.line,
        name: variable.name.into(),
        message: format!("takes {size}; the limit is {limit}"),
    })
}

/// Variables and names at module scope.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The region of the first variable.
    first_region: u64,
    /// Global and constant variables, each in the region behind that of the one before.
    pub variables: Vec<Variable>,
    /// Shared variables; number 0 is the dynamic one.
    pub shared: Vec<SharedVariable>,
    /// Which numbers of shared variables are taken.
    slots: SharedSlots,
    places: SharedPlaces,
    /// Names.
    pub names: HashMap<String, ModuleName>,
}

impl Layout {
    /// Lays out the module's variables from region `first_region` on, and numbers its functions.
    pub fn new(module: &ast::Module<'_>, first_region: u64) -> Result<Self, ProgramError> {
        let mut layout = Self { first_region, ..Self::default() };
        layout.shared.push(SharedVariable {
            name: "dynamic shared memory".into(),
            bytes: 0,
            align: 16,
            slot: 0,
            start: 0,
        });
        for variable in &module.variables {
            if variable.space == StateSpace::Shared {
                let index = layout.add_shared(variable, SharedScope::Module)?;
                layout.names.insert(variable.name.into(), ModuleName::Shared(index));
            } else {
                let bytes = checked_bytes(variable, VARIABLE_BYTES)?;
                layout.add_variable(variable, bytes)?;
            }
        }
        for (index, function) in module.functions.iter().enumerate() {
            let known = layout.names.get(function.name).copied();
            if known.is_none() || function.body.is_some() {
                layout.names.insert(function.name.into(), ModuleName::Function(index as u32));
            }
        }
        for (new, old) in &module.aliases {
            if let Some(&known) = layout.names.get(*old) {
                layout.names.insert((*new).into(), known);
            }
        }
        // Addresses may point forward, so contents come last.
        for variable in module.variables.iter().filter(|variable| !variable.init.is_empty()) {
            layout.initialise(variable)?;
        }
        Ok(layout)
    }

    /// Adds a shared variable of a module or a function; `extern` ones are all the dynamic memory.
    pub fn add_shared(
        &mut self,
        variable: &ast::Variable<'_>,
        scope: SharedScope,
    ) -> Result<u32, ProgramError> {
        let bytes = checked_bytes(variable, address::SHARED_BASE)?;
        let align = align_of(variable);
        if variable.linkage == Linkage::Extern || bytes == 0 {
            self.shared[0].align = self.shared[0].align.max(align);
            return Ok(0);
        }
        let Some(slot) = self.slots.take(scope) else {
            return Err(ProgramError::Declaration {
                line: variable.line,
                name: variable.name.into(),
                message: format!("a kernel sees more than {SHARED_SLOTS} shared variables"),
            });
        };
        let start = self.places.take(scope, bytes, align);
        self.shared.push(SharedVariable { name: variable.name.into(), bytes, align, slot, start });
        Ok(self.shared.len() as u32 - 1)
    }

    /// Begins an entry: its shared variables have the numbers that those of other entries have.
    pub fn begin_entry(&mut self) {
        self.slots.next_of_entry = SHARED_SLOTS;
        self.places.lowest_of_entry = self.places.lowest_of_module;
    }

    /// The address of a shared variable in its space.
    pub fn address_of_shared(&self, index: u32) -> u64 {
        let variable = &self.shared[index as usize];
        address::of_shared(variable.slot.into()) + u64::from(variable.start)
    }

    /// The address that a name stands for in its space, or generically.
    pub fn address_of(&self, name: ModuleName, generic: Generic) -> u64 {
        match (name, generic) {
            (ModuleName::Address(address), _) => address,
            (ModuleName::Shared(index), Generic::No) => self.address_of_shared(index),
            (ModuleName::Shared(index), Generic::Yes) => {
                address::SHARED_WINDOW + self.address_of_shared(index)
            }
            (ModuleName::Function(index), _) => address::CODE_WINDOW + 16 * u64::from(index),
        }
    }

    /// Adds a global or constant variable, and returns its address.
    pub fn add_variable(&mut self, variable: &ast::Variable<'_>, bytes: u64) -> Result<u64, ProgramError> {
        let region = self.first_region + self.variables.len() as u64;
        let constant =
            if variable.space == StateSpace::Const { Constancy::Constant } else { Constancy::Writable };
        self.variables.push(Variable {
            name: variable.name.into(),
            region,
            bytes,
            contents: Vec::new(),
            initialised: !variable.init.is_empty(),
            constant,
        });
        let address = address::of_region(region);
        self.names.insert(variable.name.into(), ModuleName::Address(address));
        Ok(address)
    }

    /// Writes the initial contents of a variable.
    pub fn initialise(&mut self, variable: &ast::Variable<'_>) -> Result<(), ProgramError> {
        let Some(&ModuleName::Address(start)) = self.names.get(variable.name) else { return Ok(()) };
        let index = ((start >> address::REGION_SHIFT) - self.first_region) as usize;
        let bytes = self.variables[index].bytes;
        let mut contents = Contents { bytes, runs: Vec::new() };
        let size = u64::from(variable.ty.bytes());
        // Bytes of a row at each depth of braces: an inner brace starts at a multiple of its row.
        let rows: Vec<u64> = (0..=variable.dims.len())
            .map(|depth| {
                let inner = variable.dims[depth..].iter().map(|dim| dim.unwrap_or(1));
                inner.fold(size * u64::from(variable.vector), u64::saturating_mul).max(1)
            })
            .collect();
        let (mut at, mut depth) = (0u64, 1usize);
        for init in &variable.init {
            match *init {
                Init::Open => depth += 1,
                Init::Close => {
                    depth = depth.saturating_sub(1);
                    let row = rows[depth.min(rows.len() - 1)];
                    at = at.checked_next_multiple_of(row).unwrap_or(u64::MAX);
                }
                Init::Value(value) => {
                    contents.put(at, size, typed_bits(value, variable.ty));
                    at = at.saturating_add(size);
                }
                Init::Address { symbol, addend, generic, byte } => {
                    let Some(&name) = self.names.get(symbol) else {
                        return Err(ProgramError::Undeclared { line: variable.line, name: symbol.into() });
                    };
                    let value = self.address_of(name, generic).wrapping_add_signed(addend);
                    let part = |byte: u8| value >> (8 * u32::from(byte).min(7)) & 0xff;
                    contents.put(at, size, byte.map_or(value, part));
                    at = at.saturating_add(size);
                }
            }
        }
        self.variables[index].contents = contents.runs;
        Ok(())
    }
}

/// The bits of a number in a field of `size` bytes.
pub fn immediate_bits(value: Immediate, size: usize) -> u64 {
    match (value, size) {
        (Immediate::Int(bits), _) => bits,
        (Immediate::F32(bits), 8) => f64::from(f32::from_bits(bits)).to_bits(),
        (Immediate::F32(bits), _) => u64::from(bits),
        (Immediate::F64(value), 8) => value.to_bits(),
        (Immediate::F64(value), _) => u64::from((value as f32).to_bits()),
    }
}

/// The bits of a number as a value of type `ty`.
fn typed_bits(value: Immediate, ty: Type) -> u64 {
    match (value, ty) {
        (Immediate::Int(value), Type::F32) => u64::from((value as i64 as f32).to_bits()),
        (Immediate::Int(value), Type::F64) => (value as i64 as f64).to_bits(),
        (value, ty) => immediate_bits(value, ty.bytes() as usize),
    }
}

/// The initial contents of a variable of `bytes` bytes, as they are read.
struct Contents {
    bytes: u64,
    runs: Vec<(u64, Vec<u8>)>,
}

impl Contents {
    /// Adds the low `size` bytes of `bits` at `at`, behind all that there is; what does not fit is dropped.
    fn put(&mut self, at: u64, size: u64, bits: u64) {
        if at.checked_add(size).is_none_or(|end| end > self.bytes) {
            return;
        }
        let mut field = [0; 16];
        field[..8].copy_from_slice(&bits.to_le_bytes());
        let field = &field[..size.min(16) as usize];
        match self.runs.last_mut().filter(|(start, run)| start + run.len() as u64 == at) {
            Some((_, run)) => run.extend_from_slice(field),
            None => self.runs.push((at, field.to_vec())),
        }
    }
}
