"""Regenerates a small part of the demo's outcomes: one task of each family, both arms, with the real local model.

Makes an environment for the server, fetches the model once, serves it on loopback, lets `skilldelta collect` run the
suite against it, shows the pairs, and stops the server. `make collect-demo` calls this. The recorded outcomes of the
package are not touched.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
ENVIRONMENT = CACHE / "local-model-venv"
BANK = CACHE / "collect-demo" / "house-rules.bank"
MODEL = "qwen2.5-coder-1.5b-instruct"
START_SECONDS = 300


def main() -> int:
    """Serve, collect, show, stop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--limit", type=int, default=12, help="tasks, spread over the families (default: 12)")
    arguments = parser.parse_args()
    python = server_python()
    subprocess.run([python, ROOT / "local_model" / "fetch.py"], check=True)
    port = free_port()
    server = subprocess.Popen([python, ROOT / "local_model" / "server.py", "--port", str(port)])
    try:
        wait_until_ready(server, port)
        return collect(port, arguments.limit)
    finally:
        server.terminate()
        server.wait(timeout=30)


def server_python() -> Path:
    """The interpreter of the server's own environment, made on the first run."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    requirements = ROOT / "local_model" / "requirements.txt"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
    return python


def free_port() -> int:
    """A port on loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    """Until the model is loaded and the endpoint answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            sys.exit(f"the local model's server stopped with code {server.returncode}; its message is above")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    sys.exit(f"the local model's server did not answer within {START_SECONDS} s")


def collect(port: int, limit: int) -> int:
    """Both arms of a few tasks into a bank of its own, then the pairs."""
    BANK.parent.mkdir(parents=True, exist_ok=True)
    skilldelta = [sys.executable, "-m", "skilldelta"]
    suite = ROOT / "src" / "skilldelta" / "demo" / "suite"
    command = [*skilldelta, "collect", suite, "--base-url", f"http://127.0.0.1:{port}/v1", "--model", MODEL]
    done = subprocess.run([*command, "--limit", str(limit), "--concurrency", "2", "--bank", BANK])
    if done.returncode == 0:
        subprocess.run([*skilldelta, "bank", "list", "--bank", BANK, "--limit", str(limit)], check=True)
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
