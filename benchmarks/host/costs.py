"""Measures a native call, a short program and `use torch` on the host against a lower bound for each.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/host/costs.py [--rounds N]

1. An extern function with two integer arguments: a Simple loop of calls without the empty loop, against a C loop that
   calls the same function through a pointer.
2. `print "hi"`, against `python3 -S -c 'print("hi")'`.
3. `use torch` and its version, against a C program that only loads LibTorch.

All times are processor times of whole processes, user and system, in alternating rounds, so that other work on the
machine has little effect. 1 and 2 use the minimum of their rounds. 3, a small difference of large times, uses the
median of the differences of three times as many pairs. It requires a C compiler.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = 5_000_000
ADD = "#include <stdint.h>\nint64_t rt_cost_add(int64_t a, int64_t b) { return a + b; }\n"
C_LOOP = """
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
int main(int count, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  int64_t (*volatile add)(int64_t, int64_t) = (int64_t (*)(int64_t, int64_t))dlsym(library, "rt_cost_add");
  const int64_t calls = count > 2 ? atoll(words[2]) : 0;
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) sum = add(sum, i);
  return sum < 0;
}
"""
# As the project loads it: libtorch_global_deps.so globally, the rest locally.
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char** words) {
  for (int i = 1; i < count; ++i)
    if (!dlopen(words[i], RTLD_NOW | (i == 1 ? RTLD_GLOBAL : RTLD_LOCAL))) return puts(dlerror()), 1;
  _exit(0);  // without destructors, like the host
}
"""
SIMPLE_LOOP = f"""
extern fn rt_cost_add(a: i64, b: i64) -> i64
fn loop_of(n: i64) -> i64:
    var sum = rt_cost_add(0, 0)
    for i in 0..n: sum = BODY
    sum
print loop_of({CALLS})
"""


def output(command: list[str], **variables: str) -> str:
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True).stdout


def cpu_ms(command: list[str], **variables: str) -> float:
    """Processor time of a whole run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output(command, **variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def minimum(rounds: int, *commands: list[str], **variables: str) -> list[float]:
    """The minimum time of each command, run alternately."""
    times = [[cpu_ms(command, **variables) for command in commands] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def compiled(folder: Path, name: str, source: str, *flags: str) -> str:
    code, product = folder / f"{name}.c", folder / name
    code.write_text(source)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", str(code), "-o", str(product), *flags, "-ldl"], check=True)
    return str(product)


def native_call(host: str, folder: Path, rounds: int) -> None:
    library = compiled(folder, "libspl_cost.so", ADD, "-shared", "-fPIC")
    c_loop = compiled(folder, "c_loop", C_LOOP)
    programs = []
    for name, body in (("calls", "rt_cost_add(sum, i)"), ("empty", "i")):
        programs.append(folder / f"{name}.spl")
        programs[-1].write_text(SIMPLE_LOOP.replace("BODY", body))
    calls, empty, in_c, c_start = minimum(
        rounds,
        *([host, str(program)] for program in programs),
        [c_loop, library, str(CALLS)],
        [c_loop, library],
        SIMPLE_SFFI_PATH=str(folder),
    )
    simple_ns, c_ns = (calls - empty) * 1e6 / CALLS, (in_c - c_start) * 1e6 / CALLS
    print(f"extern fn(i64, i64): {simple_ns - c_ns:.1f} ns over the C call ({simple_ns:.1f} ns, in C {c_ns:.1f} ns)")


def short_program(host: str, rounds: int) -> None:
    simple, python = minimum(rounds, [host, "-e", 'print "hi"'], [sys.executable, "-S", "-c", 'print("hi")'])
    print(f'print "hi": {simple:.1f} ms, python3 -S {python:.1f} ms')


def use_torch(host: str, folder: Path, rounds: int) -> None:
    code = "use torch.{torch_version}; print torch_version()"
    traced = subprocess.run([host, "-e", code], env={**os.environ, "LD_DEBUG": "files"}, capture_output=True, text=True)
    found = re.search(r"calling init: (/\S*/torch/lib/)libtorch\.so", traced.stderr)
    loaded = [found[1] + name for name in ("libtorch_global_deps.so", "libtorch.so")] if found else []
    if not loaded:
        print("use torch: not measured, no PyTorch is loaded")
        return
    loader = compiled(folder, "loader", LOADER)
    pairs = [(cpu_ms([host, "-e", code]), cpu_ms([loader, *loaded])) for _ in range(3 * rounds)]
    low, over, high = statistics.quantiles([simple - bare for simple, bare in pairs], n=4)
    bare = statistics.median(bare for _, bare in pairs)
    print(f"use torch: {over:.1f} ms over loading LibTorch ({bare:.0f} ms; half of them {low:.0f} to {high:.0f} ms)")


def main() -> None:
    parser = argparse.ArgumentParser(description="What crossing and starting cost.")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    with tempfile.TemporaryDirectory() as name:
        native_call(host, Path(name), options.rounds)
        short_program(host, options.rounds)
        use_torch(host, Path(name), options.rounds)


if __name__ == "__main__":
    main()
