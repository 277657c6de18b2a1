"""Every error that fonte raises on purpose.

FonteError
├── ConfigError                 config            a setting that is unknown or wrong
├── InputError
│   ├── InvalidQuery            invalid_query     an empty or impossible question, filter or range
│   ├── UnsupportedMediaType    unsupported_type  a kind of file that no parser reads
│   ├── SourceTooLarge          source_too_large
│   ├── SourceUnreadable        source_unreadable a missing folder, a file that may not be read
│   └── InvalidRequest          invalid_request   a request that is not of the form that the server takes
├── ParseError                  parse_failed      bytes that could not become text (uri, page)
│   ├── ParseTimeout            parse_timeout
│   ├── ParserCrashed           parser_crashed    the child process died or passed its memory limit
│   └── EncryptedSource         encrypted
├── NotFound                    not_found         absent or forbidden: the same from outside
├── AccessError                 access
│   ├── Unauthenticated         unauthenticated   no key or token, or one that is not good (any more)
│   └── NotPermitted            not_permitted     a key that may not do this at all, whatever it is done to
├── Busy                        busy              (retryable)
│   ├── RateLimited             rate_limited      (retryable) more requests than one caller is given
│   └── Overloaded              overloaded        (retryable) more requests than can wait here
├── GenerationConflict          generation_conflict  another writer moved the alias (retryable)
├── SourceChanged               source_changed    a source whose bytes are not those that were indexed
├── GateFailed                  gate_failed       a candidate that was not good enough to publish
├── StoreError                  store
│   ├── StoreUnavailable        store_unavailable (retryable) disk full, database locked
│   ├── HomeLocked              home_locked       (retryable) another process is writing
│   ├── SchemaMismatch          schema_mismatch   a home of another version
│   ├── SpaceMismatch           space_mismatch    vectors of two embedding spaces
│   └── CorruptIndex            corrupt_index
└── ModelError                  model
    ├── ModelUnavailable        model_unavailable (retryable) endpoint down or slow
    ├── ModelNotInstalled       model_not_installed  unknown name, missing package or file
    └── BadModelOutput          bad_model_output  nonsense, wrong dimensions, not finite

``code`` and ``retryable`` are stable. Each message says what and where; ``hint`` what to do next: where it is raised,
else by its kind (``next_step``).
"""

from __future__ import annotations

from typing import ClassVar


class FonteError(Exception):
    """Base of all errors that fonte raises on purpose. Without a ``hint`` of its own one says its kind's next step."""

    code: ClassVar[str] = "error"
    next_step: ClassVar[str] = "fonte doctor tells what is missing here"
    retryable: ClassVar[bool] = False
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.next_step


class ConfigError(FonteError):
    """A setting that is unknown or wrong."""

    code = "config"
    next_step = "correct it in fonte.toml or in the environment; fonte doctor reads both"
    exit_status = 2


class InputError(FonteError):
    """What the caller gave cannot be used."""

    code = "input"
    next_step = "correct what was given and try again"
    exit_status = 2
    http_status = 400


class InvalidQuery(InputError):
    """An empty or impossible question, filter or range."""

    code = "invalid_query"
    next_step = "ask it otherwise"


class UnsupportedMediaType(InputError):
    """A kind of file that no parser reads."""

    code = "unsupported_type"
    next_step = "convert it to a kind that fonte reads, such as PDF, DOCX or Markdown"
    http_status = 415


class SourceTooLarge(InputError):
    """A source beyond the size limit."""

    code = "source_too_large"
    next_step = "split it into smaller ones"
    http_status = 413


class SourceUnreadable(InputError):
    """A missing folder, or a file that may not be read."""

    code = "source_unreadable"
    next_step = "check that it is there and that this account may read it"
    exit_status = 1


class InvalidRequest(InputError):
    """A request that is not of the form that the server takes."""

    code = "invalid_request"
    next_step = "see /openapi.json"
    http_status = 422


class ParseError(FonteError):
    """Bytes that could not become text."""

    code = "parse_failed"
    next_step = "open it in its own program and save it anew, or convert it; then run fonte sync"
    http_status = 422

    def __init__(self, message: str, *, hint: str = "", uri: str = "", page: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.uri = uri
        self.page = page


class ParseTimeout(ParseError):
    """A parser that passed its time limit."""

    code = "parse_timeout"
    next_step = "raise [parsing] timeout_seconds, then run fonte retry"


class ParserCrashed(ParseError):
    """A parser process that died or passed its memory limit."""

    code = "parser_crashed"
    next_step = "run fonte retry; if it fails again, raise [parsing] memory_mb or convert the file"


class EncryptedSource(ParseError):
    """A source that needs a password."""

    code = "encrypted"
    next_step = "save it without its password, then run fonte sync"


class NotFound(FonteError):
    """Absent or forbidden: from outside the two look the same."""

    code = "not_found"
    next_step = "fonte documents lists what there is for you"
    http_status = 404


class AccessError(FonteError):
    """Who asks is not known, or may not do it."""

    code = "access"
    next_step = "ask whoever runs this"
    http_status = 403


class Unauthenticated(AccessError):
    """No key or token, or one that is wrong, expired or revoked: from outside they look the same."""

    code = "unauthenticated"
    next_step = "send a key; fonte keys create makes one"
    http_status = 401


class NotPermitted(AccessError):
    """An action that the key was not given. What one may not read is ``NotFound`` instead."""

    code = "not_permitted"
    next_step = "use a key with this action; fonte keys create makes one"


class Busy(FonteError):
    """Not now."""

    code = "busy"
    next_step = "try again in a moment"
    retryable = True
    http_status = 503

    def __init__(self, message: str, *, hint: str = "", after_seconds: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.after_seconds = after_seconds


class RateLimited(Busy):
    """More requests than one caller is given in a time."""

    code = "rate_limited"
    http_status = 429


class Overloaded(Busy):
    """More requests than can be answered or wait."""

    code = "overloaded"


class GenerationConflict(FonteError):
    """Another writer moved the active alias first."""

    code = "generation_conflict"
    next_step = "run fonte sync again"
    retryable = True
    http_status = 409


class SourceChanged(FonteError):
    """A source that has other bytes by now than those that were indexed."""

    code = "source_changed"
    next_step = "run fonte sync"
    http_status = 409


class GateFailed(FonteError):
    """A candidate that was not good enough to publish; the report says why."""

    code = "gate_failed"
    next_step = "fonte generations tells why; fonte publish ID --override REASON publishes it all the same"
    http_status = 409

    def __init__(self, message: str, *, hint: str = "", report: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.report = report


class StoreError(FonteError):
    """The home could not be read or written."""

    code = "store"
    next_step = "fonte check tells what is wrong with the home"


class StoreUnavailable(StoreError):
    """Disk full, database locked, storage away."""

    code = "store_unavailable"
    next_step = "see that there is room on the disk and that it may be written, then try again"
    retryable = True
    http_status = 503


class HomeLocked(StoreError):
    """Another process is writing to this home."""

    code = "home_locked"
    next_step = "wait until the other command has ended"
    retryable = True
    http_status = 503


class SchemaMismatch(StoreError):
    """A home of another version."""

    code = "schema_mismatch"
    next_step = "use the version of fonte that made it, or sync into a new home"


class SpaceMismatch(StoreError):
    """Vectors of two embedding spaces were about to meet."""

    code = "space_mismatch"
    next_step = "name the model of the index in [embedding], or run fonte sync to build it anew"
    http_status = 409


class CorruptIndex(StoreError):
    """Stored data that contradicts itself."""

    code = "corrupt_index"
    next_step = "fonte check tells what is damaged; go back with fonte rollback, or sync into a new home"


class ModelError(FonteError):
    """A model failed."""

    code = "model"
    next_step = "fonte doctor tries the model that the settings name"
    http_status = 502


class ModelUnavailable(ModelError):
    """An endpoint that is down, slow or refusing."""

    code = "model_unavailable"
    next_step = "see that the endpoint runs, then try again"
    retryable = True
    http_status = 503


class ModelNotInstalled(ModelError):
    """An unknown model name, or a package or file that is missing."""

    code = "model_not_installed"
    next_step = "correct the name or folder in the settings, or put the model there"


class BadModelOutput(ModelError):
    """Nonsense from a model: wrong shape, not finite, not the promised form."""

    code = "bad_model_output"
    next_step = "nothing of it was kept; if it comes again, install the model anew or name another one"
