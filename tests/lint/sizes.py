#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of at most 400 lines, functions of at most 60."""

import re

import tree

MAX_FILE = 400
MAX_FUNCTION = 60


def long_functions(name):
    """In formatted code a body ends with a lone brace at the indentation at which its first line began."""
    begin = {}
    for number, line in enumerate(tree.lines(name), 1):
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or indent > 2 or line.startswith("#"):
            continue
        if line.strip() == "}" and indent in begin:
            length = number - begin[indent] + 1
            if length > MAX_FUNCTION:
                yield f"{name}:{begin[indent]}: {length} lines in one function (at most {MAX_FUNCTION})"
        begin[indent] = number
        if indent == 0:
            begin.pop(2, None)


def long_python_functions(name):
    begin = None
    for number, line in enumerate(tree.lines(name) + ["end"], 1):
        if begin and line and not line.startswith((" ", "#", ")")):
            if number - begin > MAX_FUNCTION:
                yield f"{name}:{begin}: {number - begin} lines in one function (at most {MAX_FUNCTION})"
            begin = None
        if re.match(r"(async )?def |class ", line):
            begin = number if line.startswith(("def", "async")) else None


problems = []
for name in tree.sources() + tree.scripts():
    count = len(tree.lines(name))
    if count > MAX_FILE:
        problems.append(f"{name}: {count} lines (at most {MAX_FILE})")
    problems += long_python_functions(name) if name.endswith(".py") else long_functions(name)
tree.report(problems)
