//! Headers of the host's libraries, which NVRTC does not have: what kernels use of them.

use std::path::PathBuf;

/// Kernels use nothing of these, or what they use is built into NVRTC.
const EMPTY: [&str; 55] = [
    "algorithm",
    "cassert",
    "assert.h",
    "chrono",
    "cstdio",
    "stdio.h",
    "cstdlib",
    "stdlib.h",
    "cstring",
    "string.h",
    "ctime",
    "time.h",
    "deque",
    "exception",
    "filesystem",
    "fstream",
    "functional",
    "future",
    "iomanip",
    "ios",
    "iosfwd",
    "iostream",
    "istream",
    "iterator",
    "list",
    "map",
    "memory",
    "mutex",
    "new",
    "numeric",
    "optional",
    "ostream",
    "queue",
    "random",
    "set",
    "sstream",
    "stack",
    "stdexcept",
    "string",
    "string_view",
    "strings.h",
    "sys/time.h",
    "thread",
    "tuple",
    "array",
    "type_traits",
    "typeinfo",
    "unistd.h",
    "unordered_map",
    "unordered_set",
    "utility",
    "valarray",
    "variant",
    "vector",
    "limits",
];

/// Of CUDA, for installations without its headers: NVRTC knows all of them that kernels use.
const CUDA: [&str; 6] = [
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "vector_types.h",
];

/// Types of fixed width as CCCL defines them for NVRTC.
const STDINT: &str = "\
#pragma once
using int8_t = signed char; using int16_t = short; using int32_t = int; using int64_t = long long;
using uint8_t = unsigned char; using uint16_t = unsigned short; using uint32_t = unsigned int; using uint64_t = unsigned long long;
using intptr_t = long long; using uintptr_t = unsigned long long;
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t;
}
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807ll
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807ll - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ull
#define SIZE_MAX 18446744073709551615ull
";

const STDINT_CCCL: &str = "#pragma once\n#include <cuda/std/cstdint>\n";

/// Short names that glibc has.
const SYS_TYPES: &str =
    "#pragma once\nusing ushort = unsigned short; using uint = unsigned int; using ulong = unsigned long;\n";

const STDDEF: &str = "#pragma once\nusing ptrdiff_t = long;\nnamespace std { using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr); }\n";

const LIMITS: &str = "\
#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
";

const FLOAT: &str = "\
#pragma once
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.402823466e+38f
#define FLT_EPSILON 1.19209290e-7f
#define FLT_DIG 6
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
";

const MATH: &str = "\
#pragma once
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#define HUGE_VALF INFINITY
";

/// With the functions in `std`, too.
const CMATH: &str = "\
#pragma once
#include <math.h>
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::hypot; using ::pow; using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2;
using ::log10; using ::log1p; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh;
using ::tanh; using ::erf; using ::erfc; using ::floor; using ::ceil; using ::trunc; using ::round; using ::fmod; using ::fma; using ::fmin; using ::fmax;
using ::isnan; using ::isinf; using ::isfinite; using ::signbit; using ::copysign;
}
";

/// Of CUB what runs inside a kernel; its functions that launch kernels are for hosts.
const CUB: &str = "\
#pragma once
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
";

/// Headers of the C++ library that CCCL has for the device; their names are in `std`, too.
const OF_CCCL: [&str; 13] = [
    "algorithm",
    "array",
    "complex",
    "functional",
    "initializer_list",
    "iterator",
    "limits",
    "memory",
    "numeric",
    "optional",
    "tuple",
    "type_traits",
    "utility",
];

/// Of libraries that hosts call: kernels use the types of numbers that come with them.
const LIBRARIES: [&str; 5] = ["cublas_v2.h", "cublasLt.h", "cudnn.h", "cusparse.h", "cufft.h"];

const HALVES: &str = "#pragma once\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";

/// `nvcc` includes these unasked, and files rely on that.
pub const UNASKED: [&str; 2] = ["cmath", "sys/types.h"];

/// Stands for all headers of PyTorch: numbers of 16 bits, accessors of tensors, and what it names of CUDA.
pub const TORCH: &str = "tilewright/torch.h";
const TORCH_TEXT: &str = include_str!("made/torch.h");

/// The functions by which a kernel waits for the one before it, and lets the next begin.
const DEPENDENT_LAUNCH: &str = "tilewright/dependent_launch.h";
const DEPENDENT_LAUNCH_TEXT: &str = r#"#pragma once
__device__ inline void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline void cudaTriggerProgrammaticLaunchCompletion() { asm volatile("griddepcontrol.launch_dependents;"); }
"#;

/// Names that files for nvcc rely on without saying so, as a header that it always includes has them.
const UNSAID: [(&str, &[&str]); 4] = [
    (
        "cstdint",
        &[
            "int8_t",
            "int16_t",
            "int32_t",
            "int64_t",
            "uint8_t",
            "uint16_t",
            "uint32_t",
            "uint64_t",
            "intptr_t",
            "uintptr_t",
        ],
    ),
    ("cfloat", &["FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX", "DBL_MIN", "DBL_EPSILON"]),
    (
        "climits",
        &["CHAR_BIT", "SHRT_MAX", "INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "LLONG_MIN", "ULLONG_MAX"],
    ),
    (DEPENDENT_LAUNCH, &["cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"]),
];

/// The headers whose names the compiler did not know.
pub fn unsaid(log: &str) -> Vec<&'static str> {
    let unknown: Vec<&str> = log
        .lines()
        .filter_map(|line| line.split_once("identifier \"")?.1.split_once("\" is undefined"))
        .map(|(name, _)| name)
        .collect();
    let is_wanted = |names: &[&str]| names.iter().any(|name| unknown.contains(name));
    UNSAID.iter().filter(|(_, names)| is_wanted(names)).map(|(header, _)| *header).collect()
}

/// Name and text of each header for a compilation with these directories.
pub fn headers(directories: &[PathBuf]) -> Vec<(&'static str, String)> {
    let has = |name: &str| directories.iter().any(|directory| directory.join(name).is_file());
    let has_cccl = has("cuda/std/cstdint");
    let stdint = if has_cccl { STDINT_CCCL } else { STDINT };
    let mut all: Vec<(&str, String)> = [
        ("cstdint", stdint),
        ("stdint.h", stdint),
        ("inttypes.h", stdint),
        ("cinttypes", stdint),
        ("sys/types.h", SYS_TYPES),
        ("cstddef", STDDEF),
        ("stddef.h", STDDEF),
        ("climits", LIMITS),
        ("limits.h", LIMITS),
        ("cfloat", FLOAT),
        ("float.h", FLOAT),
        ("math.h", MATH),
        ("cmath", CMATH),
    ]
    .map(|(name, text)| (name, text.to_owned()))
    .into();
    if has_cccl {
        let of_cccl = |name| {
            let text = format!(
                "#pragma once\n#include <cuda/std/{name}>\nnamespace std {{ using namespace cuda::std; }}\n"
            );
            (name, text)
        };
        all.extend(OF_CCCL.iter().filter(|name| has(&format!("cuda/std/{name}"))).map(|name| of_cccl(*name)));
        all.push(("cub/cub.cuh", CUB.to_owned()));
    }
    if has("cuda_fp16.h") && has("cuda_bf16.h") {
        let absent = LIBRARIES.iter().filter(|name| !has(name));
        all.extend(absent.map(|name| (*name, HALVES.to_owned())));
        all.push((TORCH, TORCH_TEXT.to_owned()));
    }
    all.push((DEPENDENT_LAUNCH, DEPENDENT_LAUNCH_TEXT.to_owned()));
    all.extend(CUDA.iter().filter(|name| !has(name)).map(|name| (*name, String::new())));
    let is_new = |name: &&str| !all.iter().any(|(known, _)| known == name);
    let empty: Vec<_> = EMPTY.iter().copied().filter(is_new).map(|name| (name, String::new())).collect();
    all.extend(empty);
    all
}
