#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The formatter has nothing to change. Mend: clang-format -i FILE"""

import subprocess
import sys

import tree

command = ["clang-format", "--dry-run", "-Werror", "--ferror-limit=1", *tree.sources()]
sys.exit(subprocess.run(command, cwd=tree.ROOT, check=False).returncode)
