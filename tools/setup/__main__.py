"""The commands of bin/simple that are not the host's: setup, build, test, bench, doctor."""

from __future__ import annotations

import argparse
import subprocess
import sys

if sys.version_info < (3, 10):  # noqa: UP036 (this very check is for older ones)
    sys.exit(f"bin/simple needs Python >= 3.10; {sys.executable} is {sys.version.split()[0]}")

from console import Refusal, say
from doctor import diagnose
from layout import DEFAULT_TORCH, NO_TORCH, PRESETS, ROOT, TORCH_VERSIONS, Build, environment
from set_up import set_up
from testing import run_tests, test_variables


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except Refusal as refusal:
        say(f"bin/simple: {refusal}")
        return 1
    except KeyboardInterrupt:
        say("\nbin/simple: interrupted; start it again to go on from here")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bin/simple")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, help: str, *, versions: tuple[str, ...] = ()) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(run=run)
        if versions:
            sub.add_argument("--torch", choices=versions, help="which PyTorch (%(choices)s)")
            sub.add_argument("--preset", choices=PRESETS, default="release", help="which build (%(choices)s)")
            sub.add_argument("--yes", "-y", action="store_true", help="do not ask before installing")
        return sub

    with_none = (*TORCH_VERSIONS, NO_TORCH)
    command("setup", _setup, "install what is missing, and build", versions=with_none)
    command("build", _setup, "build what has changed (sets up first where needed)", versions=with_none)
    test = command("test", _test, "set up, build, and run the tests", versions=with_none)
    test.add_argument("--filter", metavar="TEXT", help="only tests whose name holds this text")
    test.add_argument("--long", action="store_true", help="full counts")
    test.add_argument("paths", nargs="*", metavar="PATH", help="only these spec or pytest files or folders")
    command("bench", _bench, "set up, build, and run the benchmarks", versions=TORCH_VERSIONS)
    command("doctor", _doctor, "say what is used, with versions and paths, and each fault")
    return parser


def _setup(options: argparse.Namespace) -> int:
    set_up(options.torch, Build(options.preset), assume_yes=options.yes)
    return 0


def _test(options: argparse.Namespace) -> int:
    torch = options.torch or DEFAULT_TORCH
    set_up(torch, Build(options.preset), assume_yes=options.yes)
    env = None if torch == NO_TORCH else environment(torch)
    return run_tests(Build(options.preset), env, paths=options.paths, name_filter=options.filter, long=options.long)


def _bench(options: argparse.Namespace) -> int:
    torch = options.torch or DEFAULT_TORCH
    set_up(torch, Build(options.preset), assume_yes=options.yes)
    env = environment(torch)
    variables = test_variables(Build(options.preset), env, long=False)
    for program in sorted(ROOT.glob("benchmarks/*/run.py")) + sorted(ROOT.glob("benchmarks/*/costs.py")):
        print(f"== {program.relative_to(ROOT)}", flush=True)
        subprocess.run([env.python, program], cwd=ROOT, env=variables, check=True)
    return 0


def _doctor(_options: argparse.Namespace) -> int:
    return diagnose()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
