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

``code`` and ``retryable`` are stable. Each message says what and where; ``hint`` what to do next.
"""

from __future__ import annotations

from typing import ClassVar


class FonteError(Exception):
    """Base of all errors that fonte raises on purpose."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(FonteError):
    """A setting that is unknown or wrong."""

    code = "config"
    exit_status = 2


class InputError(FonteError):
    """What the caller gave cannot be used."""

    code = "input"
    exit_status = 2
    http_status = 400


class InvalidQuery(InputError):
    """An empty or impossible question, filter or range."""

    code = "invalid_query"


class UnsupportedMediaType(InputError):
    """A kind of file that no parser reads."""

    code = "unsupported_type"
    http_status = 415


class SourceTooLarge(InputError):
    """A source beyond the size limit."""

    code = "source_too_large"
    http_status = 413


class SourceUnreadable(InputError):
    """A missing folder, or a file that may not be read."""

    code = "source_unreadable"
    exit_status = 1


class InvalidRequest(InputError):
    """A request that is not of the form that the server takes."""

    code = "invalid_request"
    http_status = 422


class ParseError(FonteError):
    """Bytes that could not become text."""

    code = "parse_failed"
    http_status = 422

    def __init__(self, message: str, *, hint: str = "", uri: str = "", page: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.uri = uri
        self.page = page


class ParseTimeout(ParseError):
    """A parser that passed its time limit."""

    code = "parse_timeout"


class ParserCrashed(ParseError):
    """A parser process that died or passed its memory limit."""

    code = "parser_crashed"


class EncryptedSource(ParseError):
    """A source that needs a password."""

    code = "encrypted"


class NotFound(FonteError):
    """Absent or forbidden: from outside the two look the same."""

    code = "not_found"
    http_status = 404


class AccessError(FonteError):
    """Who asks is not known, or may not do it."""

    code = "access"
    http_status = 403


class Unauthenticated(AccessError):
    """No key or token, or one that is wrong, expired or revoked: from outside they look the same."""

    code = "unauthenticated"
    http_status = 401


class NotPermitted(AccessError):
    """An action that the key was not given. What one may not read is ``NotFound`` instead."""

    code = "not_permitted"


class Busy(FonteError):
    """Not now."""

    code = "busy"
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
    retryable = True
    http_status = 409


class SourceChanged(FonteError):
    """A source that has other bytes by now than those that were indexed."""

    code = "source_changed"
    http_status = 409


class GateFailed(FonteError):
    """A candidate that was not good enough to publish; the report says why."""

    code = "gate_failed"
    http_status = 409

    def __init__(self, message: str, *, hint: str = "", report: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.report = report


class StoreError(FonteError):
    """The home could not be read or written."""

    code = "store"


class StoreUnavailable(StoreError):
    """Disk full, database locked, storage away."""

    code = "store_unavailable"
    retryable = True
    http_status = 503


class HomeLocked(StoreError):
    """Another process is writing to this home."""

    code = "home_locked"
    retryable = True
    http_status = 503


class SchemaMismatch(StoreError):
    """A home of another version."""

    code = "schema_mismatch"


class SpaceMismatch(StoreError):
    """Vectors of two embedding spaces were about to meet."""

    code = "space_mismatch"
    http_status = 409


class CorruptIndex(StoreError):
    """Stored data that contradicts itself."""

    code = "corrupt_index"


class ModelError(FonteError):
    """A model failed."""

    code = "model"
    http_status = 502


class ModelUnavailable(ModelError):
    """An endpoint that is down, slow or refusing."""

    code = "model_unavailable"
    retryable = True
    http_status = 503


class ModelNotInstalled(ModelError):
    """An unknown model name, or a package or file that is missing."""

    code = "model_not_installed"


class BadModelOutput(ModelError):
    """Nonsense from a model: wrong shape, not finite, not the promised form."""

    code = "bad_model_output"
