//! What is looked at while accesses are executed: costs, faults, races, and observers from outside.

pub mod contend;
pub mod costs;
pub mod definedness;
pub mod faults;
pub mod neighbours;
pub mod observe;
pub mod progress;
pub mod quiet;
pub mod shadows;
pub mod unwritten;
