#!/bin/sh
# Compiles the kernels of this folder to PTX with line information. Needs nvcc of CUDA 13.0 on PATH; the results are kept in the
# repository, so that the tests need no compiler.
set -eu
cd "$(dirname "$0")"
for source in *.cu; do
    nvcc -ptx -arch=sm_90a -lineinfo -O3 "$source" -o "${source%.cu}.ptx"
    # The file table names the source alone, whatever folder it was compiled in.
    sed -i 's|^\(\s*\.file\s*[0-9]*\s*\)".*/\([^/]*\)"|\1"\2"|' "${source%.cu}.ptx"
done
