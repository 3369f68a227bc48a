"""What tests of many ranks share: threads, programs, and matrices."""

import os
import pathlib
import subprocess
import sys
import threading

import numpy
import tilewright
from tilewright.distributed import DistMatrix

PACKAGE = pathlib.Path(tilewright.__file__).parents[1]
RANKS = pathlib.Path(__file__).with_name("ranks.py")


def on(groups, work):
    """What work gives, or raises, at each rank of a group, on a thread of its own."""
    found = [None] * len(groups)

    def run(rank, group):
        try:
            found[rank] = work(group)
        except Exception as error:
            found[rank] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(groups)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def weights(n, dtype):
    numbers = numpy.random.default_rng(n).integers(1, 100, (n, n)).astype(dtype)
    return numbers if numbers.dtype.kind == "i" else numpy.where(numbers < 40, numpy.inf, numbers).astype(dtype)


def dealt(group, whole, **options):
    return DistMatrix.from_function(group, whole.shape, lambda rows, cols: whole[rows.start : rows.stop, cols.start : cols.stop], dtype=whole.dtype, **options)


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "PMI_")) and name != "WORLD_SIZE"}
    # Open MPI counts cores, and does not run for the superuser unless told so.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return {**kept, **allowed, "MPIR_CVAR_POLLS_BEFORE_YIELD": "1", "RAYON_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE), **more}


def started(launcher, *arguments):
    """What `ranks.py` does where a launcher starts it."""
    command = [*launcher, sys.executable, str(RANKS), *arguments]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
