"""The commands of bin/simple that the host does not run: setup, build, test, notebook, docs, bench, doctor."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

if sys.version_info < (3, 10):  # noqa: UP036 (the check itself runs on older versions)
    sys.exit(f"bin/simple: Python >= 3.10 is required, got {sys.version.split()[0]} ({sys.executable})")

from console import SetupError, log
from doctor import diagnose
from documents import SITE, build_site, mkdocs_command, serve_site
from layout import (
    DEFAULT_TORCH,
    NO_TORCH,
    NOTEBOOK_VERSIONS,
    PACKAGES_VERSIONS,
    PRESETS,
    ROOT,
    SANITIZED,
    TORCH_SIZES,
    TORCH_VERSIONS,
    WHEEL_VERSIONS,
    Build,
    full_environment,
    notebook_environment,
    packages_environment,
)
from notebooks import is_prepared, open_lab, prepare
from set_up import set_up
from testing import run_notebook_tests, run_package_tests, run_tests, test_variables
from wheel import build_wheel, report, wheel_tools


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["new"]:  # its own parser
        return _installed_command("new").new(arguments[1:], str(ROOT / "bin" / "simple"))
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except SetupError as error:
        log(f"bin/simple: {error}")
        return 1
    except KeyboardInterrupt:
        log("\nbin/simple: interrupted; run it again to continue")
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
    setup = command("setup", _setup, "install what is missing, and build", versions=with_none)
    build = command("build", _setup, "build what has changed (sets up first if needed)", versions=with_none)
    setup.epilog = sizes()
    for sub in (setup, build):
        sub.add_argument("--all", action="store_true", help="the test programs and the packages of the tests too")
        sub.add_argument("--cpu", action="store_true", help="a PyTorch without CUDA, where the index has one")
    test = command("test", _test, "set up, build, and run the tests", versions=with_none)
    test.add_argument("--filter", metavar="TEXT", help="only tests whose name contains TEXT")
    test.add_argument("--long", action="store_true", help="run the full counts of the long tests")
    test.add_argument("--packages", action="store_true", help="run only tests/packages, in an environment of its own")
    test.add_argument(
        "--notebooks",
        action="store_true",
        help="run only the tests in a browser: tests/notebooks and the search of the site",
    )
    test.add_argument("paths", nargs="*", metavar="PATH", help="run only these spec or pytest files or folders")
    notebook = command("notebook", _notebook, "set up, build, and open JupyterLab", versions=NOTEBOOK_VERSIONS)
    notebook.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="files, and after -- options of JupyterLab")
    command("bench", _bench, "set up, build, and run the benchmarks", versions=TORCH_VERSIONS)
    docs = command("docs", _docs, "build the documents as a site, into build/site")
    docs.add_argument("--serve", action="store_true", help="show it on this machine, and build again what changes")
    docs.add_argument("--port", type=int, default=8000, help="the port of --serve (%(default)s)")
    docs.add_argument("--output", type=Path, default=SITE, metavar="DIR", help="the folder of the site")
    wheel = command("wheel", _wheel, "build the Python package, into dist/")
    tested = " and ".join(sorted(TORCH_VERSIONS))
    wheel.add_argument(
        "--torch", choices=WHEEL_VERSIONS, action="append", help=f"with a backend for it (default: {tested})"
    )
    wheel.add_argument("--yes", "-y", action="store_true", help="do not ask before installing")
    shell = command("completion", _completion, "print the completion of a shell")
    shell.add_argument(
        "shell", nargs="?", choices=("bash", "zsh", "fish"), help='in ~/.bashrc: eval "$(bin/simple completion bash)"'
    )
    examined = command("doctor", _doctor, "report what is used, with versions and paths, and every fault")
    examined.add_argument(
        "entry", nargs="?", metavar="ENTRY", help="print this entry of docs/troubleshooting.md instead"
    )
    return parser


def _setup(options: argparse.Namespace) -> int:
    if options.cpu:
        raise SetupError(without_cuda())
    set_up(options.torch, Build(options.preset), assume_yes=options.yes, everything=options.all)
    return 0


def sizes() -> str:
    """What set-up installs, for its help."""
    gb = TORCH_SIZES[DEFAULT_TORCH]
    return (
        f"On disk: {gb['runtime_gb']} GB of packages for programs, {gb['torch_gb']} GB of them torch with its CUDA "
        f"libraries; {gb['environment_gb']} GB in all with --all, as for the tests, which link the files of both."
    )


def without_cuda() -> str:
    """Why the lock files have no PyTorch for CPUs only, and what installs one."""
    return (
        "--cpu: PyPI has no torch without CUDA for Linux x86-64; in an environment of your own, install one, then "
        f"this checkout: pip install --index-url https://download.pytorch.org/whl/cpu torch=={DEFAULT_TORCH}.* "
        "torchvision && pip install ."
    )


def _test(options: argparse.Namespace) -> int:
    torch, tree = options.torch or DEFAULT_TORCH, Build(options.preset)
    if options.notebooks:
        made = _prepared_notebook_environment(torch, tree, assume_yes=options.yes)
        return run_notebook_tests(tree, made, options.paths, name_filter=options.filter, long=options.long)
    packages = needs_packages(options, torch)
    set_up(torch, tree, assume_yes=options.yes, everything=not options.packages, packages=packages)
    if runs(options, "tests/website"):
        mkdocs_command()
    if runs(options, "tests/packaging") and torch != NO_TORCH:
        wheel_tools()
    made = packages_environment(torch) if packages else None
    if options.packages:
        return run_package_tests(tree, made, name_filter=options.filter, long=options.long)
    env = None if torch == NO_TORCH else full_environment(torch)
    return run_tests(tree, env, paths=options.paths, name_filter=options.filter, long=options.long, packages=made)


def runs(options: argparse.Namespace, folder: str) -> bool:
    """Whether tests of this folder run, which need tools of their own."""
    named = any(Path(path).is_relative_to(folder) for path in options.paths)
    return not options.packages and (named or not options.paths)


def needs_packages(options: argparse.Namespace, torch: str) -> bool:
    """Whether all of tests/packages runs: with --packages, and at the end of a whole run with --long."""
    if not options.packages:
        whole = options.long and not options.paths and options.preset not in SANITIZED
        return whole and torch in PACKAGES_VERSIONS
    if options.paths:
        raise SetupError(f"--packages runs tests/packages only: remove {' '.join(options.paths)}, or use --filter")
    if torch not in PACKAGES_VERSIONS:
        raise SetupError(f"--packages: torch must be {' or '.join(PACKAGES_VERSIONS)}, got {torch}")
    if options.preset in SANITIZED:
        raise SetupError(f"--packages: the preset must not have a sanitizer, got {options.preset}")
    return True


def _notebook(options: argparse.Namespace) -> int:
    tree = Build(options.preset)
    env = _prepared_notebook_environment(options.torch or DEFAULT_TORCH, tree, assume_yes=options.yes)
    return open_lab(env, tree, options.arguments)


def _prepared_notebook_environment(torch: str, tree: Build, *, assume_yes: bool, everything: bool = False):
    set_up(torch, tree, assume_yes=assume_yes, everything=everything, notebooks=True)
    env = notebook_environment(torch)
    if not is_prepared(env):
        prepare(env)
    return env


def _bench(options: argparse.Namespace) -> int:
    torch = options.torch or DEFAULT_TORCH
    # A benchmark builds its own programs.
    set_up(torch, Build(options.preset), assume_yes=options.yes, full=True)
    env = full_environment(torch)
    variables = test_variables(Build(options.preset), env, long=False)
    return run_benchmarks(env.python, variables)


def run_benchmarks(python: Path, variables: dict[str, str]) -> int:
    """Runs all, also after one that fails; 1 if one failed, for example for lack of a device."""
    failed = []
    for program in benchmarks():
        name = program.relative_to(ROOT)
        print(f"== {name}", flush=True)
        status = subprocess.run([python, program], cwd=ROOT, env=variables, check=False).returncode
        if status != 0:
            failed.append(f"{name} (exit code {status})")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def benchmarks() -> list[Path]:
    """The programs that bin/simple bench runs; the other files of these folders are their parts."""
    names = ("run.py", "costs.py", "steps.py", "forwards.py", "text.py")
    return [program for name in names for program in sorted(ROOT.glob(f"benchmarks/*/{name}"))]


def _docs(options: argparse.Namespace) -> int:
    if options.serve:
        return serve_site(options.port)
    build_site(options.output.absolute())
    return 0


def _wheel(options: argparse.Namespace) -> int:
    report(build_wheel(options.torch or TORCH_VERSIONS))
    return 0


def _completion(options: argparse.Namespace) -> int:
    module = _installed_command("completion")
    return module.completion([options.shell] if options.shell else [], completed_commands(module))


def _installed_command(name: str) -> ModuleType:
    """A module of the command of an installed package, which does the same."""
    sys.path.insert(0, str(ROOT / "python"))
    return importlib.import_module(f"simple_torch_command.{name}")


def completed_commands(module: ModuleType) -> list:
    """The commands of a checkout with their options, for the completion of a shell."""
    (group,) = (action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    commands = {command.name: command for command in module.COMMON}
    for name, parser in group.choices.items():
        options = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
        if name not in commands:
            commands[name] = module.Command(name, parser.description, tuple(options))
    return list(commands.values())


def _doctor(options: argparse.Namespace) -> int:
    if options.entry is None:
        return diagnose()
    return _installed_command("troubleshooting").explain(ROOT / "docs" / "troubleshooting.md", [options.entry])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
