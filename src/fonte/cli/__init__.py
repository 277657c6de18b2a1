"""The command line: parse arguments, call the corpus, print. Heavy modules are imported only by the commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from fonte.cli.arguments import build_parser, refuse_later
from fonte.cli.output import Output
from fonte.errors import FonteError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status: 0 done, 1 failed, 2 wrong use, 3 done with failures, 4 abstained on demand."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    output = Output(json_mode="--json" in argv, quiet="--quiet" in argv)
    try:
        refuse_later(argv)
        parsed = build_parser().parse_args(argv)
        return int(parsed.run(parsed, output))
    except FonteError as error:
        output.error(error)
        return error.exit_status
    except BrokenPipeError:
        # The reader of our output has gone (`fonte search … | head`): that is its right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        output.note("interrupted; the index is as it was before")
        return INTERRUPTED
    except Exception as error:
        # An edge: a person gets one line about a fault that is ours; FONTE_DEBUG shows where it was.
        if os.environ.get("FONTE_DEBUG"):
            raise
        output.error(_unexpected(error))
        return 1


def _unexpected(error: Exception) -> FonteError:
    text = " ".join(str(error).split())[:300]
    return FonteError(
        f"unexpected {type(error).__name__}: {text}",
        hint="this is a fault of fonte: set FONTE_DEBUG=1 to see where, and please report it",
    )
