"""Stage the pages, build the site, check it: `python -m docsite`. Exit code 1 where a link, a page or an asset is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from docsite.offline import outside_assets
from docsite.staging import stage

ROOT = Path(__file__).resolve().parents[1]
PAGES, SITE = ROOT / "build" / "docs", ROOT / "build" / "site"  # as zensical.toml has them


def main() -> int:
    """Build into build/site; broken links and anchors end the build."""
    stage(ROOT, PAGES)
    build = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(ROOT / "zensical.toml")]
    done = subprocess.run(build, cwd=ROOT)
    if done.returncode:
        return 1
    found = outside_assets(SITE)
    for line in found:
        print(f"error: {line}", file=sys.stderr)
    if not found:
        print(f"open {SITE.relative_to(ROOT) / 'index.html'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
