//! The emulated device that the launches of a case run on, one behind the other.

use super::control::{Control, Running};
use crate::array::{Array, ElementType};
use crate::case::{Argument, Launch, Link, TextureOver, by_handle, put_address};
use crate::model::Unfinished;
use std::cell::RefCell;
use std::collections::HashSet;
use tilewright_arch::{Blocks, Gpu};
use tilewright_core::Error;
use tilewright_cuda::{CodeArrays, CodeLaunch, CodeModule, Engine};
use tilewright_driver::{Watcher, observe};
use tilewright_emulator::{Observer, Report, Surface, Texture};

/// A device with the arrays of a case in its memory.
pub struct Device<'a> {
    name: &'a str,
    control: &'a Control<'a>,
    engine: Engine,
    arrays: CodeArrays,
    /// The type of the elements of each array, and its shape.
    shapes: Vec<(ElementType, Vec<usize>)>,
}

/// A module on the device.
pub struct Loaded {
    module: CodeModule,
    image: Vec<u8>,
    /// The address of each array, variables included.
    pub addresses: Vec<u64>,
}

/// A launch that has begun, and what came of it.
pub struct Ran {
    pub report: Report,
    /// How far it was, where a limit or somebody ended it.
    pub unfinished: Option<Unfinished>,
}

impl<'a> Device<'a> {
    /// `name` is that of the case; the arrays are those that are given, with their addresses where links say. Of the launches, variables of their modules
    /// have memory of their own.
    pub fn new(
        name: &'a str,
        gpu: &Gpu,
        (given, links): (&[Array], &[Link]),
        launches: &[Launch],
        control: &'a Control<'a>,
    ) -> Result<Self, Error> {
        let is_cooperative = launches.iter().any(|launch| launch.shape.blocks == Blocks::Cooperative);
        let blocks = Blocks::of(is_cooperative);
        let engine = Engine::emulated(imitated(gpu, blocks))?;
        let variables: HashSet<usize> =
            launches.iter().flat_map(|launch| &launch.variables).map(|(_, array)| *array).collect();
        let named = given.iter().enumerate().map(|(index, array)| {
            let bytes = if variables.contains(&index) { &[] } else { &array.bytes[..] };
            (array.name.as_str(), bytes)
        });
        let named: Vec<_> = named.collect();
        let arrays = engine.upload_arrays(&named)?;
        let addresses: Vec<u64> = arrays.addresses().collect();
        for (index, array) in given.iter().enumerate() {
            let mut links = links.iter().filter(|link| link.array == index).peekable();
            if links.peek().is_none() {
                continue;
            }
            let mut bytes = array.bytes.clone();
            links.for_each(|link| put_address(&mut bytes, link.offset, link.target, &addresses));
            arrays.write(index, &bytes)?;
        }
        let shapes = given.iter().map(|array| (array.element, array.shape.clone())).collect();
        Ok(Self { name, control, engine, arrays, shapes })
    }

    /// The address of each array.
    fn addresses(&self) -> impl Iterator<Item = u64> {
        self.arrays.addresses()
    }

    /// Loads the module of a launch.
    pub fn load(&self, launch: &Launch) -> Result<Loaded, Error> {
        let image = [launch.ptx.as_bytes(), b"\0"].concat();
        // SAFETY: the image is PTX.
        let module = unsafe { self.engine.load_code(self.name, &image)? };
        let mut addresses: Vec<u64> = self.addresses().collect();
        for (symbol, array) in &launch.variables {
            addresses[*array] = module.address(symbol)?;
        }
        Ok(Loaded { module, image, addresses })
    }

    /// Copies the arrays back, and the variables of a launch.
    pub fn read(&self, launch: &Launch, loaded: &Loaded, arrays: &mut [Array]) -> Result<(), Error> {
        self.arrays.read(arrays.iter_mut().map(|array| &mut array.bytes))?;
        launch.variables.iter().try_for_each(|(symbol, array)| {
            self.engine.read_variable(&loaded.module, symbol, &mut arrays[*array].bytes)
        })
    }

    /// Executes a launch with all checks. That of a kernel that starts and then fails has a report, too.
    ///
    /// # Errors
    /// For launches that cannot start.
    pub fn launch(
        &self,
        launch: &Launch,
        loaded: &Loaded,
        observer: Option<&dyn Observer>,
    ) -> Result<Ran, Error> {
        let arguments: Vec<_> = launch.arguments.iter().map(by_handle).collect();
        let code = CodeLaunch {
            name: self.name,
            cubin: &loaded.image,
            entry: &launch.entry,
            shape: launch.shape,
            arguments: &arguments,
            symbols: &launch.symbols,
        };
        let surfaces: Vec<_> = launch.surfaces.iter().filter_map(|&array| self.surface(array)).collect();
        let passed = launch.arguments.iter().filter_map(|argument| match argument {
            Argument::Texture(texture) => Some(texture),
            _ => None,
        });
        let textures: Vec<_> = passed.chain(&launch.textures).filter_map(|one| self.texture(one)).collect();
        let outcome = RefCell::new(None);
        let launched = |launched: &tilewright_driver::Launched<'_>| {
            drop(outcome.replace(Some(launched.outcome.clone())))
        };
        let options = self.control.options();
        let running = Running::new(self.control, launch);
        let ran = running.watched(observer, |watch| {
            let watcher = Watcher {
                watch,
                options: Some(&options),
                // That they fit was seen before.
                registers: Some(0),
                surfaces: &surfaces,
                textures: &textures,
                launched: Some(&launched),
            };
            // SAFETY: the image is PTX, and the emulator checks parameters and bounds.
            observe(&watcher, || unsafe { self.engine.run_loaded(&code, &loaded.module, &self.arrays) })
        });
        // What the driver was told by the emulator says more than its code.
        match (outcome.into_inner(), ran) {
            (Some(Ok(report)), _) => {
                let unfinished = running.unfinished(report.error.as_ref());
                Ok(Ran { report, unfinished })
            }
            (Some(Err(error)), _) => Err(self.refused(error)),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Err(self.refused("nothing was launched")),
        }
    }

    /// A surface over an array, by the array's address.
    fn surface(&self, array: usize) -> Option<(u64, Surface)> {
        let (address, (element, shape)) = (self.addresses().nth(array)?, self.shapes.get(array)?);
        // The last index is the fastest, and goes along x.
        let mut extent = [1; 3];
        extent.iter_mut().zip(shape.iter().rev()).for_each(|(extent, &of)| *extent = of);
        let element = element.size();
        let pitch = (extent[0] * element) as u64;
        Some((address, Surface { address, pitch, extent, element }))
    }

    /// A texture over an array, by its handle.
    fn texture(&self, texture: &TextureOver) -> Option<(u64, Texture)> {
        let (element, shape) = self.shapes.get(texture.array)?;
        let address = self.addresses().nth(texture.array)?;
        Some((texture.handle, texture.at(address, *element, shape)))
    }

    /// The error of a launch that failed, with the place where it did.
    pub fn failed(&self, launch: &Launch, report: &Report) -> Error {
        let error = report.error.as_ref().map(|error| format!("{error}\n")).unwrap_or_default();
        let place = report.findings.first().map(ToString::to_string).unwrap_or_default();
        self.refused(format!("{}: {error}{place}", launch.entry).trim_end())
    }

    /// A launch that cannot be done.
    pub fn refused(&self, why: impl ToString) -> Error {
        super::refused(self.name, why)
    }
}

/// Of a GPU without a data sheet it is not known how many blocks it holds at once.
fn imitated(gpu: &Gpu, blocks: Blocks) -> Gpu {
    let enough = if blocks == Blocks::Cooperative { u32::MAX } else { 1 };
    Gpu { multiprocessors: gpu.device().map_or(enough, |device| device.sms), ..*gpu }
}
