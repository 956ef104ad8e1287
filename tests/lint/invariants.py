# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/invariants.md and tests/README.md name only tests that exist, and ctest can tell each by its name."""
import re

import tree

# A literal may be continued on the next line.
CASE = re.compile(r'TEST_CASE\(\s*((?:"[^"]*"\s*)+)')


def test_names():
    names = set()
    for source in tree.files("tests/*.cpp"):
        for literal in CASE.findall((tree.ROOT / source).read_text(encoding="utf-8")):
            names.add("".join(re.findall(r'"([^"]*)"', literal)))
    return names


def missing(page, names):
    for number, line in enumerate(tree.lines(page), 1):
        if not line.startswith("| ") or " | " not in line or line.startswith(("| what", "| folder")):
            continue
        for name in re.findall(r"`([^`]+: [^`]+)`", line.split(" | ", 1)[1]):
            if name not in names and not name.endswith("..."):
                yield f"{page}:{number}: no test is called {name!r}"


known = test_names()
problems = [problem for page in ("docs/invariants.md", "tests/README.md") for problem in missing(page, known)]
# CMake takes a name apart at each, and the test is never run.
problems += [f"a test's name has a semicolon: {name!r}" for name in sorted(known) if ";" in name]
tree.report(problems)
