//! What NVRTC is given of a file: texts and options, from which more is left out while the compiler complains.

use super::headers::{self, UNASKED};
use super::marks::{FOR_BOTH, Marks};
use super::options::CompilerOptions;
use super::text::{Text, leave_out_faults, leave_out_functions, missing, note};
use super::tree::{self, Places};
use crate::cache::{CacheKey, Programs};
use crate::locate::{self, Environment};
use crate::nvrtc::{self, CUDA_HEADERS, Nvrtc, Output, Source};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use tilewright_arch::Architecture;
use tilewright_core::{Error, ErrorKind};

/// After so many attempts to leave out what is not for the device, it is hopeless.
const ATTEMPTS: usize = 32;

/// The texts and options of a compilation.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The file, and the headers of its project.
    texts: Vec<Text>,
    arguments: Vec<String>,
    headers: Vec<(&'static str, String)>,
    instance: Option<String>,
    /// Says all that the result depends on, but for the architecture and the kind of output. `None` where that cannot be told.
    identity: Option<String>,
}

/// What was compiled.
pub struct Done {
    pub image: Vec<u8>,
    pub log: String,
    /// The entry of the instance of a template, where one was asked for.
    pub entry: Option<String>,
    /// What was left out.
    pub note: Option<String>,
}

impl Prepared {
    pub fn new(
        nvrtc: &Nvrtc,
        path: &Path,
        text: String,
        options: &CompilerOptions,
        instance: Option<&str>,
    ) -> Self {
        // Headers are looked for beside the file, where a person says, and in the toolkit that the compiler belongs to.
        let beside = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let own: Vec<PathBuf> =
            [beside.to_owned()].into_iter().chain(options.include.iter().cloned()).collect();
        let toolkit = locate::include_directories(nvrtc.location(), &Environment::current());
        let directories: Vec<PathBuf> = own.iter().chain(&toolkit).cloned().collect();
        let mut arguments = CompilerOptions { include: Vec::new(), ..options.clone() }.arguments();
        arguments.extend(directories.iter().map(|path| format!("--include-path={}", path.display())));
        arguments.extend(UNASKED.iter().map(|header| format!("--pre-include={header}")));
        arguments.push(format!("--define-macro={FOR_BOTH}=__host__ __device__"));
        arguments.extend(["-lineinfo", "--ptxas-options=-v"].map(str::to_owned));
        arguments.extend(options.ptxas.iter().map(|option| format!("--ptxas-options={option}")));
        let headers = headers::headers(&directories);
        let places = Places { own: &own, toolkit: &toolkit, made: &headers };
        let tree = tree::read(path.display().to_string(), text, &places);
        let mut prepared = Self {
            texts: tree.texts,
            arguments,
            headers,
            instance: instance.map(str::to_owned),
            identity: None,
        };
        prepared.identity = tree.toolkit.zip(nvrtc.build()).map(|(toolkit, build)| {
            let mut hash = Sha256::new();
            hash.update(build.0);
            for text in prepared.all_texts().chain([toolkit.as_str()]) {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text);
            }
            hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
        });
        prepared
    }

    /// All that the compiler is given; words keep the lists apart.
    fn all_texts(&self) -> impl Iterator<Item = &str> {
        let texts = self.texts.iter().flat_map(|text| [text.name.as_str(), text.text.as_str()]);
        let headers = self.headers.iter().flat_map(|(name, text)| [*name, text.as_str()]);
        let arguments = self.arguments.iter().map(String::as_str);
        let texts = texts.chain(["headers"]).chain(headers);
        texts.chain(["arguments"]).chain(arguments).chain(["instance"]).chain(self.instance.as_deref())
    }

    /// Compiles it, or takes what came of it before. What is not for the device is left out until the compiler is content.
    pub fn settle(
        &mut self,
        nvrtc: &Nvrtc,
        architecture: Architecture,
        output: Output,
    ) -> Result<Done, Error> {
        self.settle_with(nvrtc, architecture, output, Programs::of_user())
    }

    fn settle_with(
        &mut self,
        nvrtc: &Nvrtc,
        architecture: Architecture,
        output: Output,
        cache: Option<Programs>,
    ) -> Result<Done, Error> {
        let key = self.identity.as_ref().map(|identity| {
            CacheKey::of_text(&format!("{identity} {architecture} {output:?} {}", env!("CARGO_PKG_VERSION")))
        });
        if let Some(done) = cache.as_ref().zip(key).and_then(|(cache, key)| Done::of(cache.load(key)?)) {
            return Ok(done);
        }
        let mut marks = None;
        let mut attempts = 0..ATTEMPTS;
        let (compiled, entry) = loop {
            let failed = match self.compile(nvrtc, architecture, output) {
                Ok(done) => break done,
                Err(failed) => failed,
            };
            let ErrorKind::Compilation { log, .. } = failed.kind() else { return Err(failed) };
            if !(attempts.next().is_some() && self.give_way(log, &mut marks)) {
                return Err(self.with_missing(failed));
            }
        };
        let done = Done { image: compiled.image, log: compiled.log, entry, note: note(&self.texts) };
        if let Some((cache, key)) = cache.zip(key) {
            cache.store(key, &done.texts());
        }
        Ok(done)
    }

    /// Names the headers that were not found: what the compiler complains of may be theirs.
    fn with_missing(&self, failed: Error) -> Error {
        match (failed.kind(), missing(&self.texts)) {
            (ErrorKind::Compilation { what, target, log, hint }, Some(missing)) => {
                let [what, target, log] = [what, target, log].map(String::clone);
                let hint = hint.clone().also(format!("{missing}. {CUDA_HEADERS}"));
                ErrorKind::Compilation { what, target, log, hint }.into()
            }
            _ => failed,
        }
    }

    /// Makes the texts so that the compiler may have less to complain about; `false` where nothing can be done.
    fn give_way(&mut self, log: &str, marks: &mut Option<Marks>) -> bool {
        // What the compiler did not know and `nvcc` always includes.
        let unsaid = headers::unsaid(log).into_iter().map(|header| format!("--pre-include={header}"));
        let unsaid: Vec<String> = unsaid.filter(|argument| !self.arguments.contains(argument)).collect();
        if !unsaid.is_empty() {
            self.arguments.extend(unsaid);
            return true;
        }
        match marks {
            Some(marks) => leave_out_faults(&mut self.texts, log, marks),
            None => {
                *marks = Some(leave_out_functions(&mut self.texts));
                true
            }
        }
    }

    fn compile(
        &self,
        nvrtc: &Nvrtc,
        architecture: Architecture,
        output: Output,
    ) -> Result<(nvrtc::Compiled, Option<String>), Error> {
        let (main, own) = self.texts.split_first().map_or((None, &[][..]), |(main, own)| (Some(main), own));
        let (name, text) = main.map_or(("", ""), |main| (main.name.as_str(), main.text.as_str()));
        let own = own.iter().map(|header| (header.name.as_str(), header.text.as_str()));
        let of_hosts = self.headers.iter().map(|(name, text)| (*name, text.as_str()));
        let headers: Vec<(&str, &str)> = own.chain(of_hosts).collect();
        let source = Source { name, text, headers: &headers };
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        nvrtc.compile_instance(&source, architecture, output, &arguments, self.instance.as_deref())
    }
}

impl Done {
    fn texts(&self) -> [&[u8]; 4] {
        [
            &self.image,
            self.log.as_bytes(),
            self.entry.as_deref().unwrap_or_default().as_bytes(),
            self.note.as_deref().unwrap_or_default().as_bytes(),
        ]
    }

    /// What was kept; neither entries nor notes are empty.
    fn of(texts: Vec<Vec<u8>>) -> Option<Self> {
        let [image, log, entry, note] = <[Vec<u8>; 4]>::try_from(texts).ok()?;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
        let some = |bytes| Some(text(bytes)?).map(|text| Some(text).filter(|text| !text.is_empty()));
        Some(Self { image, log: text(log)?, entry: some(entry)?, note: some(note)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::write;

    /// What was compiled is taken again as long as no text, option or name that it depends on has changed.
    #[test]
    fn what_was_compiled_is_kept_by_its_texts() {
        let Ok(nvrtc) = Nvrtc::find() else {
            assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "there is no NVRTC");
            return eprintln!("skipped: there is no NVRTC");
        };
        let root = tempfile::tempdir().expect("a directory");
        let (file, header) = (root.path().join("k.cu"), root.path().join("two.h"));
        write(&header, "#define TWO 2\n").expect("written");
        let text = "#include \"two.h\"\n__global__ void k(int* x) { x[0] = TWO + BY; }\nint main() {}\n";
        let cache = Programs::in_directory(root.path().join("programs"));
        let architecture = nvrtc.nearest(tilewright_arch::ComputeCapability::new(9, 0)).expect("it says");
        let entries = |text: &str, by: &str, output| {
            let options = CompilerOptions { define: vec![format!("BY={by}")], ..Default::default() };
            let mut prepared = Prepared::new(&nvrtc, &file, text.to_owned(), &options, None);
            let done =
                prepared.settle_with(&nvrtc, architecture, output, Some(cache.clone())).expect("compiles");
            (cache.info().entries, done.image, done.note)
        };
        let (count, ptx, note) = entries(text, "1", Output::Ptx);
        assert_eq!((count, note.as_deref()), (1, Some("left out: code for the host, lines 3")));
        assert_eq!(entries(text, "1", Output::Ptx), (1, ptx, note));
        assert_eq!(entries(text, "1", Output::Cubin).0, 2);
        assert_eq!(entries(text, "2", Output::Ptx).0, 3);
        write(&header, "#define TWO 3\n").expect("written");
        assert_eq!(entries(text, "1", Output::Ptx).0, 4);
        // What is included depends on more than texts.
        let unknown = text.replace("\"two.h\"", "<cstdint>\n#define NAME \"two.h\"\n#include NAME");
        assert_eq!(entries(&unknown, "1", Output::Ptx).0, 4);
    }

    /// Without NVRTC too: what the compiler says of a name tells nobody that its header is missing.
    #[test]
    fn headers_that_were_not_found_are_named() {
        let text = |missing: Vec<String>| Text::new("k.cu".into(), String::new(), missing);
        let hint = |texts: Vec<Text>| {
            let prepared = Prepared {
                texts,
                arguments: Vec::new(),
                headers: Vec::new(),
                instance: None,
                identity: None,
            };
            let failed = ErrorKind::Compilation {
                what: "k.cu".into(),
                target: "sm_90".into(),
                log: "identifier \"__half\" is undefined".into(),
                hint: "".into(),
            };
            prepared.with_missing(failed.into()).hint().unwrap_or_default()
        };
        let named = hint(vec![text(vec!["cuda_fp16.h".into()])]);
        assert!(named.starts_with("headers that were not found: cuda_fp16.h. CUDA's headers"), "{named}");
        assert_eq!(hint(vec![text(Vec::new())]), "");
    }
}
