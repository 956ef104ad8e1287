# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/invariants.md names only tests that exist."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
names = set()
for source in (ROOT / "tests").rglob("*.cpp"):
    names.update(re.findall(r'TEST_CASE\(\s*"([^"]+)"', source.read_text(encoding="utf-8")))
missing = 0
for number, line in enumerate((ROOT / "docs/invariants.md").read_text(encoding="utf-8").splitlines(), 1):
    if not line.startswith("| ") or line.startswith("| what"):
        continue
    for name in re.findall(r"`([^`]+: [^`]+)`", line.split(" | ", 1)[1]):
        if name not in names and not name.endswith("..."):
            print(f"docs/invariants.md:{number}: no test is called {name!r}")
            missing += 1
sys.exit(1 if missing else 0)
