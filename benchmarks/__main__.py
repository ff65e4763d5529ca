"""`python -m benchmarks` lists the benchmarks, and runs those that need only a small Dollhouse.

The numbers in docs/speed.md are of the real data; run a script on that data to repeat them.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
from pathlib import Path

from babywalk.assets.dollhouse import DollhouseConfig
from babywalk.commands.data import make_dollhouse

HERE = Path(__file__).parent
# Arguments of the scripts that a small Dollhouse, {data}, is enough for.
QUICK = {
    "data": ["--raw", "{data}/raw", "--data", "{data}"],
    "environment": ["--data", "{data}"],
    "measures": ["--data", "{data}/raw"],
    "alignment": ["--data", "{data}", "--features", "dollhouse", "--splits", "val_seen,val_unseen"],
}
HOUSES = 8


def main() -> int:
    scripts = sorted(file.stem for file in HERE.glob("*.py") if not file.stem.startswith("_"))
    options = parse(scripts)
    for name in scripts:
        print(f"{name:<14}{summary(name)}\n{'':<14}{needs(name)}")
    if options.list:
        return 0
    wanted = [name for name in options.names or scripts if name in QUICK]
    print(f"\nBuilding a Dollhouse of {HOUSES} houses for: {', '.join(wanted) or 'nothing'}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        data = Path(temporary) / "data"
        make_dollhouse(data, DollhouseConfig(houses=HOUSES))
        failed = [name for name in wanted if not run(name, data)]
    if failed:
        print(f"\nFailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def parse(scripts: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="List the benchmarks, and run those that need only a small Dollhouse.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(scripts)} (default: all)")
    parser.add_argument("--list", action="store_true", help="list them without running any")
    options = parser.parse_args()
    for name in options.names:
        if name not in scripts:
            parser.error(f"{name!r} is not known; choose from {', '.join(scripts)}")
        if name not in QUICK:
            parser.error(f"{name!r} {needs(name)}")
    return options


def summary(name: str) -> str:
    """The first line of a script's docstring."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())) or ""
    return text.partition("\n")[0].partition(": python ")[0].rstrip(".")


def needs(name: str) -> str:
    """How to run a script on other data."""
    if name not in QUICK:
        return f"not run here: python benchmarks/{name}.py --help"
    own = " ".join(QUICK[name]).format(data="DATA")
    return f"run here; on other data: python benchmarks/{name}.py {own}"


def run(name: str, data: Path) -> bool:
    print(f"\n== {name}", flush=True)
    arguments = [argument.format(data=data) for argument in QUICK[name]]
    return subprocess.run([sys.executable, str(HERE / f"{name}.py"), *arguments], check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
