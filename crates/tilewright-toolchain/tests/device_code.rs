//! Files as projects have them are compiled without what is for hosts. Skipped without NVRTC, which `TILEWRIGHT_REQUIRE_NVRTC=1` makes a failure.

use tilewright_core::Error;
use tilewright_toolchain::{CompilerOptions, DeviceCode, Nvrtc};

/// Whether CUDA's headers are beside the compiler; `None` without one.
fn has_headers() -> Option<bool> {
    match Nvrtc::find() {
        Ok(nvrtc) => {
            let library = nvrtc.location().path.clone();
            let include = library.parent().expect("a directory").with_file_name("include");
            Some(include.join("cuda_fp16.h").is_file() && include.join("cuda_bf16.h").is_file())
        }
        Err(missing) => {
            assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{missing}");
            eprintln!("skipped: there is no NVRTC");
            None
        }
    }
}

/// Writes the files of a project and compiles the first, with the others in `include`.
fn compile(files: &[(&str, &str)], instance: Option<&str>) -> Result<DeviceCode, Error> {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("written");
    }
    let options = CompilerOptions { include: vec![root.path().join("include")], ..Default::default() };
    DeviceCode::compile(&root.path().join(files[0].0), "sm_80".parse().expect("known"), &options, instance)
}

/// The code, and that nvcc was not needed.
fn by_nvrtc(files: &[(&str, &str)], instance: Option<&str>) -> DeviceCode {
    let code = compile(files, instance).unwrap_or_else(|error| panic!("{error}"));
    assert!(code.notes.iter().all(|note| !note.contains("nvcc")), "{:?}", code.notes);
    code
}

/// Functions of hosts in a header that a header of the project includes, under two names.
#[test]
fn host_parts_of_nested_headers() {
    if has_headers().is_none() {
        return;
    }
    let ops = "#pragma once\n#include <stdexcept>\n#include <library_that_is_not_there.h>\n\
        inline void check(some_status status) { if (status) throw std::logic_error(\"failed\"); }\n\
        struct Context { some_handle handle; Context() { create(&handle); } };\n\
        struct Size { int rows, columns; Size(int n) : rows{n}, columns(n) { check(0); }\n  static Size of(std::string text);\n \
        __host__ __device__ int area() const { return rows * columns; } };\n";
    let code = by_nvrtc(
        &[
            (
                "src/scale.cu",
                "#include \"kernels.h\"\n#include <deep/ops.h>\n\
                __global__ void scale(float* x, float s, Size size) { if (threadIdx.x < size.area()) x[threadIdx.x] *= s; }\n",
            ),
            (
                "src/kernels.h",
                "#pragma once\n#include \"../include/deep/ops.h\"\n__global__ void scale(float*, float, Size);\nvoid launch(const float*);\n",
            ),
            ("include/deep/ops.h", ops),
        ],
        None,
    );
    assert!(code.ptx.contains(".entry _Z5scalePff4Size("), "{}", code.ptx);
    let note = code.notes.join("");
    assert!(
        note.contains("library_that_is_not_there.h") && note.contains("ops.h") && note.contains("kernels.h"),
        "{note}"
    );
}

/// What marks a device may be a macro; functions that compilers compute may be used by kernels; heads may be repeated in branches.
#[test]
fn macros_constants_and_branches() {
    if has_headers().is_none() {
        return;
    }
    let code = by_nvrtc(
        &[
            (
                "k.cu",
                "#include \"marks.h\"\n#define INLINE HD __forceinline__\n\
                INLINE int twice(int x) { return 2 * x; }\n\
                constexpr int up(int a, int b) { return (a + b - 1) / b; }\n\
                template <class T> constexpr T most(T a, T b) { return a < b ? b : a; }\n\
                std::string name() { return \"k\"; }\n\
                #ifdef OTHER\nint run(float* x) {\n#else\nint run(int* x) {\n#endif\n  k<<<1, 1>>>(x);\n  return name().size();\n}\n\
                KERNEL(k)(int* x) { x[0] = twice(up(7, 2)) + most(1, 2) + int(uint8_t(257)) + int(FLT_MAX > 1); }\n\
                PYBIND11_MODULE(NAME, m) { m.def(\"run\", &run); }\n",
            ),
            (
                "include/marks.h",
                "#ifdef __CUDACC__\n#define HD __host__ \\\n  __device__\n#else\n#define HD\n#endif\n#define KERNEL(name) extern \"C\" __global__ void name\n",
            ),
        ],
        None,
    );
    assert!(code.ptx.contains(".entry k("));
    assert!(code.notes.join("").contains("lines 6, 8-14, 16"), "{:?}", code.notes);
}

/// `cuda.h` declares what hosts call, and PyTorch's headers stand at the top of most extensions.
#[test]
fn headers_of_the_driver_and_of_pytorch() {
    if has_headers() != Some(true) {
        return eprintln!("skipped: CUDA's headers are not installed");
    }
    let text = "#include <cuda.h>\n#include <cuda_runtime.h>\n#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n\
        template <class T> __global__ void add(torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> x, const T* y, CUdeviceptr unused) {\n  \
        const int i = blockIdx.x, j = threadIdx.x;\n  if (j < x.size(1)) x[i][j] = x[i][j] * y[j] + static_cast<T>(1.0f);\n}\n\
        template <class T> __global__ void sum(const T* x, T* to) {\n  at::opmath_type<T> all = x[threadIdx.x];\n  \
        all += WARP_SHFL_XOR(all, 1);\n  gpuAtomicAdd(to, static_cast<T>(all));\n}\n\
        torch::Tensor run(torch::Tensor x) { cuInit(0); TORCH_CHECK(x.is_cuda()); return x; }\n";
    for instance in [
        "add<float>",
        "add<at::Half>",
        "add<c10::BFloat16>",
        "sum<at::Half>",
        "sum<c10::BFloat16>",
        "sum<double>",
    ] {
        let code = by_nvrtc(&[("extension.cu", text)], Some(instance));
        assert!(code.entry.is_some_and(|entry| code.ptx.contains(&entry)), "{instance}");
        assert!(code.notes.join("").contains("lines 14"), "{:?}", code.notes);
    }
}

/// What is wrong in device code is told, at its place, and nothing of it is left out.
#[test]
fn faults_of_device_code_stay() {
    if has_headers().is_none() {
        return;
    }
    for fault in [
        "__device__ int f() { return nowhere; }",
        "struct S { std::string name; __device__ int f(); };",
        "#define DEVICE __device__\nDEVICE int f() { return nowhere; }",
    ] {
        let text = format!("int main() {{ return other; }}\n{fault}\n__global__ void k(int* x) {{}}\n");
        let error = compile(&[("k.cu", &text)], None).expect_err("it is wrong").to_string();
        let line = 1 + text
            .lines()
            .position(|line| line.contains("nowhere") || line.contains("std::"))
            .expect("there");
        assert!(error.contains(&format!("k.cu({line}): error")) && !error.contains("other"), "{error}");
    }
}
