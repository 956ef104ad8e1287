# SPDX-License-Identifier: GPL-3.0-or-later
"""The project's own files, and how a lint reports: what all scripts of this folder share."""

import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*patterns):
    """Paths relative to the root: what git knows or would add; without git, everything but build/."""
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith(("build/", ".git/"))]
    return sorted(name for name in names
                  if any(fnmatch.fnmatch(name, pattern) for pattern in patterns) and (ROOT / name).is_file())


def sources():
    return files("*.cpp", "*.hpp", "*.c", "*.h")


def scripts():
    """Shell and Python, by name or by first line."""
    found = []
    for name in files("*"):
        if name.endswith((".sh", ".py")):
            found.append(name)
        elif "." not in pathlib.Path(name).name:
            with open(ROOT / name, "rb") as file:
                if re.match(rb"#!.*\b(sh|bash|python3)\b", file.readline()):
                    found.append(name)
    return found


def lines(name):
    return (ROOT / name).read_text(encoding="utf-8").splitlines()


def code_lines(name):
    """Lines without their strings and // comments, so that words in them are not taken for code."""
    for line in lines(name):
        yield re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))


def includes(name):
    """(line number, what is included, True for "...")"""
    for number, line in enumerate(lines(name), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match[2], match[1] == '"'


def report(problems):
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)
