"""The child process that holds a local model: ``python -m fonte.models.gguf_server``.

Reads one line of JSON from stdin (``model``, ``threads``, ``context_tokens``, ``key``), opens llama.cpp's server on the
loopback, and answers one line on stdout: ``{"address": …}`` or ``{"error": …}``. It lives as long as its stdin is open,
so it ends with whoever started it.
"""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path
from typing import Any, NoReturn

_LOOK_SECONDS = 1.0


def serve(wanted: dict[str, Any]) -> Any:
    """A running server with its model loaded; keeping the value keeps it alive.

    Raises:
        ImportError: xllamacpp is not installed. RuntimeError: the model cannot be loaded.
    """
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = wanted["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any that is free
    params.api_keys = [wanted["key"]]
    params.n_ctx = wanted["context_tokens"]
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["threads"]
    params.n_threads_http = 2
    params.cache_ram_mib = 0
    params.offline = True
    params.warmup = False
    params.ui = params.endpoint_slots = params.endpoint_props = False
    params.cors_origins = ""
    return Server(params)


def _wait(parent: int) -> None:
    """Until stdin closes or the parent is another."""
    while os.getppid() == parent:
        ready, _, _ = select.select([sys.stdin], [], [], _LOOK_SECONDS)
        if ready and not os.read(sys.stdin.fileno(), 4096):
            return


def main() -> NoReturn:
    """Serve until whoever started it has gone."""
    parent = os.getppid()
    wanted = json.loads(os.read(sys.stdin.fileno(), 65536).splitlines()[0])
    # llama.cpp may write to stdout too: what the parent reads must be ours alone.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    told: dict[str, str] = {}
    server: Any = None
    try:
        if not Path(wanted["model"]).is_file():
            raise FileNotFoundError(wanted["model"])
        server = serve(wanted)
        told["address"] = server.listening_address
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        told["error"] = f"{type(error).__name__}: {error}"
    answers.write(json.dumps(told) + "\n")
    answers.flush()
    if server is not None:
        _wait(parent)
    # The server's own threads would outlive the interpreter's end.
    os._exit(0 if server is not None else 1)


if __name__ == "__main__":
    main()
