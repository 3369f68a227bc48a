//! Random operands, the same on every run.

use crate::{
    case::{Case, Stored},
    field::Field,
};
use tilewright::{Layout, MatRef, Matrix};

/// A and B of a case.
pub struct Operands<T> {
    /// A, m x k.
    pub a: Operand<T>,
    /// B, k x n.
    pub b: Operand<T>,
}

/// A matrix and where its elements lie.
pub struct Operand<T> {
    matrix: Matrix<T>,
    /// How it is stored.
    pub stored: Stored,
}

impl<T: Field> Operands<T> {
    /// Draws both from a fixed seed.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn of(case: &Case) -> crate::Result<Self> {
        let mut random = XorShift(0x9e37_79b9_7f4a_7c15);
        let a = Operand::draw(&mut random, case.m, case.k, case.a)?;
        let b = Operand::draw(&mut random, case.k, case.n, case.b)?;
        Ok(Self { a, b })
    }
}

impl Operands<i16> {
    /// The same values in a wider type.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn widened(&self) -> crate::Result<Operands<i32>> {
        Ok(Operands { a: self.a.widened()?, b: self.b.widened()? })
    }
}

impl Operand<i16> {
    fn widened(&self) -> crate::Result<Operand<i32>> {
        let data = self.data().iter().copied().map(i32::from).collect();
        Ok(Operand { matrix: Matrix::from_vec(data, self.matrix.layout())?, stored: self.stored })
    }
}

impl<T: Field> Operand<T> {
    fn draw(random: &mut XorShift, rows: usize, cols: usize, stored: Stored) -> crate::Result<Self> {
        let data = (0..rows * cols).map(|_| T::draw(random.next())).collect();
        let layout = match stored {
            Stored::Plain => Layout::row_major(rows, cols),
            Stored::Transposed => Layout::col_major(rows, cols),
        };
        Ok(Self { matrix: Matrix::from_vec(data, layout)?, stored })
    }

    /// To read.
    pub fn view(&self) -> MatRef<'_, T> {
        self.matrix.as_ref()
    }

    /// The elements in memory order.
    pub fn data(&self) -> &[T] {
        self.matrix.as_slice()
    }

    /// Address of the first element.
    pub fn ptr(&self) -> *const T {
        self.data().as_ptr()
    }

    /// Row and column stride, in elements.
    pub fn strides(&self) -> (isize, isize) {
        let layout = self.matrix.layout();
        (layout.row_stride, layout.col_stride)
    }

    /// Elements between the starts of neighbouring rows of what is stored: BLAS's leading dimension.
    pub fn leading(&self) -> usize {
        match self.stored {
            Stored::Plain => self.matrix.cols(),
            Stored::Transposed => self.matrix.rows(),
        }
    }
}

/// Marsaglia's xorshift64.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Group;

    #[test]
    fn draws_are_in_the_range_that_the_tables_state() {
        let case = Case::all(Group::MinPlusF32).next().unwrap();
        let f = Operands::<f32>::of(&case).unwrap();
        assert!(f.a.data().iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(f.a.data().iter().any(|x| *x < -0.9) && f.b.data().iter().any(|x| *x > 0.9));
        let i = Operands::<i16>::of(&case).unwrap();
        assert!(i.a.data().iter().all(|x| (-1000..=1000).contains(x)));
    }
}
