//! Addresses: every variable and allocation has a region of the address space to itself.
//!
//! A pointer that runs past its allocation, however far, stays in the region of that allocation, so that the address alone says which
//! object a pointer was made from. No other record of provenance is needed.

pub mod address;
mod shared;

pub use shared::{SharedScope, SharedVariable};

use std::collections::HashMap;

use self::shared::{SHARED_SLOTS, SharedPlaces, SharedSlots};
use super::error::ProgramError;
use crate::parse::ast::{self, Generic, Immediate, Init, Linkage, StateSpace};
use crate::ptx_isa::Type;

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
        self.slots.begin_entry();
        self.places.begin_entry();
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
