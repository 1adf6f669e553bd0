"""Serves the local model on loopback as an OpenAI-compatible endpoint, until Ctrl-C or SIGTERM.

llama.cpp runs inside this process (package xllamacpp). Requests share a few slots; each slot keeps the
prompt it saw last, so that tasks with the same system prompt and skill pay only for what differs.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from fetch import DEFAULT_CACHE, MODELS, FetchError, Weights, fetch

LOOPBACK = "127.0.0.1"


def serve(weights: Weights, model_file: Path, *, port: int, threads: int, slots: int, context: int) -> None:
    """Blocks until the process is asked to stop."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    server = start(weights, model_file, port=port, threads=threads, slots=slots, context=context)
    print(f"{weights.alias} answers at {server.listening_address}/v1 (Ctrl-C stops it)", flush=True)
    stop.wait()


def start(weights: Weights, model_file: Path, *, port: int, threads: int, slots: int, context: int):  # type: ignore[no-untyped-def]
    """The running llama.cpp server; it stops when the object is dropped."""
    try:
        import xllamacpp
    except ImportError:
        raise FetchError("xllamacpp is missing: pip install -r local_model/requirements.txt") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file)
    params.model_alias = {weights.alias}
    params.hostnames = [LOOPBACK]
    params.port = port
    params.n_parallel = slots
    params.n_ctx = context * slots  # llama.cpp divides the context among the slots
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    # A slot is taken over only by a prompt that agrees with most of what the slot holds; otherwise the tasks with
    # and without the skill would keep evicting each other from one slot while the others stay empty.
    params.slot_prompt_similarity = 0.7
    params.ui = False
    params.verbosity = 1
    return xllamacpp.Server(params)


def main() -> int:
    parser = argparse.ArgumentParser(description="Serve the local model on loopback, OpenAI-compatible.")
    parser.add_argument("--size", choices=sorted(MODELS), default="1.5b", help="model size (default: 1.5b)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder of the model file")
    parser.add_argument("--port", type=int, default=18431, help="port on loopback (default: 18431)")
    parser.add_argument("--threads", type=int, default=1, help="more than one is slower on busy cores (default: 1)")
    parser.add_argument("--slots", type=int, default=4, help="requests served side by side (default: 4)")
    parser.add_argument("--context", type=int, default=2048, help="tokens per request (default: 2048)")
    arguments = parser.parse_args()
    weights = MODELS[arguments.size]
    try:
        serve(
            weights,
            fetch(weights, arguments.cache),
            port=arguments.port,
            threads=arguments.threads,
            slots=arguments.slots,
            context=arguments.context,
        )
    except (FetchError, OSError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
