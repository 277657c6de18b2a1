"""Sessions of onnxruntime, as every model here opens them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import ModelNotInstalled

if TYPE_CHECKING:
    import onnxruntime


def open_session(model: str, graph: Path | bytes, threads: int) -> onnxruntime.InferenceSession:
    """A session over a graph, a file or its bytes.

    Raises:
        ModelNotInstalled: a graph that onnxruntime cannot load.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Waiting threads sleep: on shared cores a spinning one takes time from whoever has work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = str(graph) if isinstance(graph, Path) else graph
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except runtime_errors() as error:
        raise ModelNotInstalled(f"the model {model} cannot be loaded: {first_line(error)}") from error


def runtime_errors() -> tuple[type[Exception], ...]:
    """The library's exceptions, which have no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return (
        state.EPFail,
        state.Fail,
        state.InvalidArgument,
        state.InvalidGraph,
        state.InvalidProtobuf,
        state.NoModel,
        state.NoSuchFile,
        state.NotImplemented,
        state.RuntimeException,
        RuntimeError,
        ValueError,
    )


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
