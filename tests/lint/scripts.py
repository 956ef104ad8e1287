#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shell scripts parse, Python scripts compile."""

import subprocess

import tree

problems = []
for name in tree.scripts():
    if name.endswith(".py") or "python3" in tree.lines(name)[0]:
        try:
            compile((tree.ROOT / name).read_text(encoding="utf-8"), name, "exec")
        except SyntaxError as error:
            problems.append(f"{name}:{error.lineno}: {error.msg}")
        continue
    result = subprocess.run(["bash", "-n", name], cwd=tree.ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        problems.append(result.stderr.strip())
tree.report(problems)
