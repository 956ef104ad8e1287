#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dependencies run one way, and nothing includes tests or bench (docs: the layers)."""

import tree

MAY_INCLUDE = {
    "policy": {"policy"},
    "config": {"policy", "config"},
    "deploy": {"policy", "config", "deploy"},
    "proxy": {"policy", "config", "deploy", "proxy"},
}

problems = []
for name in tree.sources():
    layer = name.split("/")[0]
    for number, included, quoted in tree.includes(name):
        if not quoted or "/" not in included:
            continue
        other = included.split("/")[0]
        if layer in MAY_INCLUDE and other not in MAY_INCLUDE[layer]:
            problems.append(f"{name}:{number}: {layer} must not know {included}")
tree.report(problems)
