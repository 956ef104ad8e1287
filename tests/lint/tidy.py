#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""clang-tidy over the sources that the product consists of. Usage: tidy.py BUILD-FOLDER [PATTERN...]

Not over tests and bench unless named: they would take longer than all of their runs."""

import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys

import tree

PRODUCT = ["policy/*", "config/*", "deploy/*", "proxy/*"]


def compiled(build, patterns):
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        paths = {pathlib.Path(entry["directory"], entry["file"]).resolve() for entry in json.load(file)}
    names = sorted(str(path.relative_to(tree.ROOT)) for path in paths
                   if path.is_relative_to(tree.ROOT) and path.is_file())
    return [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def tidy(build, name):
    # gcc's warning names are in the compile commands; clang does not know them all.
    result = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option", name],
        cwd=tree.ROOT, capture_output=True, text=True, check=False)
    return [] if result.returncode == 0 else [result.stdout.strip() or result.stderr.strip()]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    names = compiled(build, sys.argv[2:] or PRODUCT)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda name: tidy(build, name), names)
        tree.report([problem for problems in found for problem in problems])


main()
