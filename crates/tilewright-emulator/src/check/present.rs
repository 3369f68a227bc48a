//! The block whose access is looked at.

use super::{
    blocks::{BlockOrder, Known},
    order::Order,
};

/// The block that accesses and what it knows.
#[derive(Clone, Copy)]
pub struct Present<'a> {
    /// Its number.
    pub block: u32,
    /// Order inside it.
    pub order: &'a Order,
    /// What it knows of others.
    pub known: &'a Known,
    /// Order between blocks.
    pub blocks: &'a BlockOrder,
}
