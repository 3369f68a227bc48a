//! Pages of a shadow: an only worker has all of them, several lock the one that they look at.

use std::sync::{Mutex, MutexGuard, OnceLock};

use super::blocks::locked;

/// Regions of pages that one worker has to itself.
type Single<T> = Vec<Vec<Option<T>>>;

/// A region of pages that workers share.
type Shared<T> = Vec<OnceLock<Mutex<T>>>;

/// The pages of all regions.
#[derive(Debug)]
pub enum Pages<T> {
    /// Locked once, for the whole launch.
    Single(Mutex<Single<T>>),
    /// Locked for each access.
    Shared(Vec<Shared<T>>),
}

/// The pages as one worker has them.
pub enum View<'a, T> {
    Single(MutexGuard<'a, Single<T>>),
    Shared(&'a [Shared<T>]),
}

/// The pages of one region, during one access.
pub enum Region<'a, T> {
    Single(&'a mut [Option<T>]),
    Shared(Held<'a, T>),
}

/// The page that is held: one at a time, so that workers cannot wait for each other in a circle.
pub struct Held<'a, T> {
    pages: &'a [OnceLock<Mutex<T>>],
    number: usize,
    page: Option<MutexGuard<'a, T>>,
}

impl<T> Pages<T> {
    /// Regions of so many pages each.
    pub fn new(regions: impl Iterator<Item = usize>, workers: usize) -> Self {
        if workers == 1 {
            let region = |pages| (0..pages).map(|_| None).collect();
            return Self::Single(Mutex::new(regions.map(region).collect()));
        }
        let region = |pages| (0..pages).map(|_| OnceLock::new()).collect();
        Self::Shared(regions.map(region).collect())
    }

    /// Bytes of the tables of so many pages.
    pub fn table_bytes(pages: u64, workers: usize) -> u64 {
        let page = if workers == 1 { size_of::<Option<T>>() } else { size_of::<OnceLock<Mutex<T>>>() };
        pages * page as u64
    }

    /// The pages for one worker: if it is the only one, until it drops them.
    pub fn view(&self) -> View<'_, T> {
        match self {
            Self::Single(pages) => View::Single(locked(pages)),
            Self::Shared(pages) => View::Shared(pages),
        }
    }
}

impl<T> Pages<T> {
    /// Calls `see` with every page of several workers: its region, its number, and what is remembered of it.
    pub fn each_shared(&mut self, see: &mut dyn FnMut(usize, usize, &mut T)) {
        let Self::Shared(regions) = self else { return };
        for (region, pages) in regions.iter_mut().enumerate() {
            for (number, page) in pages.iter_mut().enumerate() {
                if let Some(page) = page.get_mut() {
                    see(region, number, page.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()));
                }
            }
        }
    }
}

impl<T> View<'_, T> {
    /// The pages of a region.
    #[inline(always)]
    pub fn region(&mut self, region: usize) -> Option<Region<'_, T>> {
        Some(match self {
            Self::Single(pages) => Region::Single(pages.get_mut(region)?),
            Self::Shared(pages) => {
                Region::Shared(Held { pages: pages.get(region)?, number: usize::MAX, page: None })
            }
        })
    }
}

impl<T> Region<'_, T> {
    /// Page `number`, if it is there.
    #[inline(always)]
    pub fn page(&mut self, number: usize) -> Option<&mut T> {
        match self {
            Self::Single(pages) => pages.get_mut(number)?.as_mut(),
            Self::Shared(held) => held.page(number),
        }
    }

    /// Page `number`, which `make` makes if it is not there. `None` if it cannot be made.
    pub fn page_or_make(&mut self, number: usize, make: impl Fn() -> Option<T>) -> Option<&mut T> {
        match self {
            Self::Single(pages) => {
                let page = pages.get_mut(number)?;
                if page.is_none() {
                    *page = make();
                }
                page.as_mut()
            }
            Self::Shared(held) => {
                let page = held.pages.get(number)?;
                if page.get().is_none() {
                    let made = Mutex::new(make()?);
                    // Another worker may have been faster: its page is as good.
                    page.get_or_init(|| made);
                }
                held.page(number)
            }
        }
    }
}

impl<T> Held<'_, T> {
    fn page(&mut self, number: usize) -> Option<&mut T> {
        if self.number != number || self.page.is_none() {
            // First of all the other is let go.
            self.page = None;
            self.number = number;
            self.page = self.pages.get(number)?.get().map(locked);
        }
        self.page.as_deref_mut()
    }
}
