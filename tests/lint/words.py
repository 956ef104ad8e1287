#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file names its licence; nothing is left for later; tests wait for events and never sleep."""

import re

import tree

LICENCE = "SPDX-License-Identifier: GPL-3.0-or-later"
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(")

problems = []
licensed = tree.files("*.cpp", "*.hpp", "*.c", "*.h", "*.toml", "*.cmake", "*CMakeLists.txt", "*.service")
licensed = [name for name in licensed if not (name.startswith("tests/") and name.endswith(".toml"))]  # test data
for name in sorted(set(licensed + tree.scripts())):
    text = tree.lines(name)
    if not any(LICENCE in line for line in text[:3]):
        problems.append(f"{name}:1: no line \"{LICENCE}\"")
    for number, line in enumerate(text, 1):
        if LATER.search(line):
            problems.append(f"{name}:{number}: \"{LATER.search(line)[0]}\": do it, or write down why not")
for name in tree.sources():
    if not name.startswith("tests/"):
        continue
    for number, line in enumerate(tree.code_lines(name), 1):
        if SLEEP.search(line):
            problems.append(f"{name}:{number}: a test that sleeps is slow or flaky: wait for the event")
tree.report(problems)
