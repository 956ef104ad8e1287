#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every header compiles alone. Usage: headers.py COMPILER [FLAG...]

A source file that includes its own header first has proved it already; the others are compiled here."""

import concurrent.futures
import os
import subprocess
import sys

import tree


def proved_by_its_source(name):
    source = name.removesuffix(".hpp") + ".cpp"
    if not (tree.ROOT / source).is_file():
        return False
    return next((included for _, included, _ in tree.includes(source)), None) == name


def compile_alone(name):
    command = [*sys.argv[1:], "-std=c++20", "-fsyntax-only", "-w", f"-I{tree.ROOT}", "-x", "c++", "-"]
    source = f'#include "{name}"\n#include "{name}"\n'
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return [] if result.returncode == 0 else [f"{name} does not compile alone:\n{result.stderr}"]


headers = [name for name in tree.files("*.hpp") if not proved_by_its_source(name)]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    tree.report([problem for found in pool.map(compile_alone, headers) for problem in found])
