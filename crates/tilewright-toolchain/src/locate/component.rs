//! What can be looked for: a table of libraries and tools, their file names and where packages put them.

use std::fmt;

/// A library or a tool that is found at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Component {
    /// The CUDA driver's library, `libcuda`.
    Driver,
    /// The run-time compiler, `libnvrtc`.
    Nvrtc,
    /// The vendor's linear algebra, `libcublas`: only measured against, never needed.
    Cublas,
    /// The same with a choice of algorithms, `libcublasLt`: likewise.
    CublasLt,
    /// Transfers among GPUs, `libnccl`: only for work on several of them.
    Nccl,
    /// The PTX assembler.
    Ptxas,
    /// The disassembler of machine code.
    Nvdisasm,
    /// The compiler of programs with host code: only for files that NVRTC does not understand.
    Nvcc,
}

/// What a component is made of.
pub(super) enum Kind {
    Library,
    Tool,
}

/// A row of the table.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Names a file, or a directory that holds one.
    pub(super) variable: &'static str,
    /// File names, the preferred one first.
    pub(super) files: &'static [&'static str],
    /// Directories inside `site-packages`.
    pub(super) wheels: &'static [&'static str],
    /// Directories inside `site-packages` of other packages that bring a copy: better than none.
    pub(super) copies: &'static [&'static str],
    pub(super) hint: &'static str,
}

impl Component {
    /// Every component.
    pub const ALL: [Self; 8] = [
        Self::Driver,
        Self::Nvrtc,
        Self::Cublas,
        Self::CublasLt,
        Self::Nccl,
        Self::Ptxas,
        Self::Nvdisasm,
        Self::Nvcc,
    ];

    /// The environment variable that names the file to use, or its directory.
    ///
    /// ```
    /// use tilewright_toolchain::Component;
    /// assert_eq!(Component::Nvrtc.variable(), "TILEWRIGHT_NVRTC_PATH");
    /// ```
    pub fn variable(self) -> &'static str {
        self.spec().variable
    }

    /// The name for people, such as `NVRTC`.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    pub(super) fn spec(self) -> &'static Spec {
        match self {
            Self::Driver => &DRIVER,
            Self::Nvrtc => &NVRTC,
            Self::Cublas => &CUBLAS,
            Self::CublasLt => &CUBLASLT,
            Self::Nccl => &NCCL,
            Self::Ptxas => &PTXAS,
            Self::Nvdisasm => &NVDISASM,
            Self::Nvcc => &NVCC,
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const WINDOWS: bool = cfg!(windows);

static DRIVER: Spec = Spec {
    name: "the CUDA driver",
    kind: Kind::Library,
    variable: "TILEWRIGHT_CUDA_PATH",
    // `libcuda.so` may be the stub that toolkits ship for linking.
    files: if WINDOWS { &["nvcuda.dll"] } else { &["libcuda.so.1"] },
    wheels: &[],
    copies: &[],
    hint: "install NVIDIA's driver, version 525 or later; products run on the CPU without it",
};

static NVRTC: Spec = Spec {
    name: "NVRTC",
    kind: Kind::Library,
    variable: "TILEWRIGHT_NVRTC_PATH",
    files: if WINDOWS {
        &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
    } else {
        &["libnvrtc.so.13", "libnvrtc.so.12"]
    },
    wheels: &["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"],
    copies: &[],
    hint: "pip install nvidia-cuda-nvrtc, or name the library in TILEWRIGHT_NVRTC_PATH",
};

static CUBLAS: Spec = Spec {
    name: "cuBLAS",
    kind: Kind::Library,
    variable: "TILEWRIGHT_CUBLAS_PATH",
    files: if WINDOWS {
        &["cublas64_13.dll", "cublas64_12.dll"]
    } else {
        &["libcublas.so.13", "libcublas.so.12"]
    },
    wheels: CUBLAS_WHEELS,
    copies: &[],
    hint: "pip install nvidia-cublas, or name the library in TILEWRIGHT_CUBLAS_PATH",
};

static CUBLASLT: Spec = Spec {
    name: "cuBLASLt",
    kind: Kind::Library,
    variable: "TILEWRIGHT_CUBLASLT_PATH",
    files: if WINDOWS {
        &["cublasLt64_13.dll", "cublasLt64_12.dll"]
    } else {
        &["libcublasLt.so.13", "libcublasLt.so.12"]
    },
    wheels: CUBLAS_WHEELS,
    copies: &[],
    hint: "pip install nvidia-cublas, or name the library in TILEWRIGHT_CUBLASLT_PATH",
};

static NCCL: Spec = Spec {
    name: "NCCL",
    kind: Kind::Library,
    variable: "TILEWRIGHT_NCCL_PATH",
    files: &["libnccl.so.2"],
    wheels: &["nvidia/nccl/lib"],
    copies: &[],
    hint: "pip install nvidia-nccl-cu13 (or -cu12), or name the library in TILEWRIGHT_NCCL_PATH",
};

static PTXAS: Spec = Spec {
    name: "ptxas",
    kind: Kind::Tool,
    variable: "TILEWRIGHT_PTXAS_PATH",
    files: if WINDOWS { &["ptxas.exe"] } else { &["ptxas"] },
    wheels: TOOL_WHEELS,
    copies: TRITON,
    hint: "pip install nvidia-cuda-nvcc, or name the program in TILEWRIGHT_PTXAS_PATH",
};

static NVDISASM: Spec = Spec {
    name: "nvdisasm",
    kind: Kind::Tool,
    variable: "TILEWRIGHT_NVDISASM_PATH",
    files: if WINDOWS { &["nvdisasm.exe"] } else { &["nvdisasm"] },
    wheels: TOOL_WHEELS,
    copies: TRITON,
    hint: "pip install nvidia-cuda-nvcc, or name the program in TILEWRIGHT_NVDISASM_PATH",
};

static NVCC: Spec = Spec {
    name: "nvcc",
    kind: Kind::Tool,
    variable: "TILEWRIGHT_NVCC_PATH",
    files: if WINDOWS { &["nvcc.exe"] } else { &["nvcc"] },
    wheels: TOOL_WHEELS,
    copies: &[],
    hint: "pip install nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt, or name the program in TILEWRIGHT_NVCC_PATH",
};

const CUBLAS_WHEELS: &[&str] = &["nvidia/cu13/lib", "nvidia/cublas/lib"];
const TOOL_WHEELS: &[&str] = &["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"];
/// Triton brings its own copies, often older ones.
const TRITON: &[&str] = &["triton/backends/nvidia/bin"];
