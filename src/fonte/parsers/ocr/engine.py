"""Tesseract as a program: looked for each time, run with limits, answers as hOCR."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL.Image import Image

PACKAGES: Final = "tesseract-ocr tesseract-ocr-ita tesseract-ocr-osd"
HINT: Final = f"no OCR engine is installed; on Debian: apt-get install {PACKAGES}"
_LOOK_SECONDS = 20.0
_ROTATE = re.compile(rb"^Rotate: (\d+)\s+Orientation confidence: ([\d.]+)", re.MULTILINE)
_SCRIPT = re.compile(rb"^Script: (\w+)\s+Script confidence: ([\d.]+)", re.MULTILINE)
_SURE_SCRIPT = 1.0
_LANGUAGES = {
    "Arabic": "ara fas kur pus snd uig urd",
    "Cyrillic": "aze bel bul kaz kir mkd mon rus srp tat tgk ukr uzb",
    "Devanagari": "hin mar nep san",
    "Greek": "ell grc",
    "Han": "chi jpn",
    "Hangul": "kor",
    "Hebrew": "heb yid",
    "Japanese": "jpn",
    "Korean": "kor",
    "Thai": "tha",
}
"""Tesseract's languages of scripts other than Latin."""
_VERSION = re.compile(r"tesseract v?(\S+)")
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "TESSDATA_PREFIX")


class OcrFailed(Exception):
    """One run did not give text: its time or memory was up, or the program ended badly."""


@dataclass(frozen=True, slots=True)
class Orientation:
    """Degrees to turn a picture clockwise to set it upright, how sure that is from 0, and its script or ""."""

    turn: int = 0
    sure: float = 0.0
    script: str = ""


@dataclass(frozen=True, slots=True)
class Engine:
    """An installed tesseract with the languages that were wanted and are there, and those that are not."""

    path: str
    version: str
    languages: tuple[str, ...]
    missing: tuple[str, ...]
    knows_orientation: bool

    @property
    def name(self) -> str:
        """What documents are stamped with."""
        return f"tesseract/{self.version} {'+'.join(self.languages)}"

    def read(self, image: Image, *, dpi: int, seconds: float, memory_bytes: int, layout: str = "3") -> bytes:
        """The text of a grey picture that stands upright, as hOCR; ``layout`` is a page segmentation mode.

        Raises:
            OcrFailed: no answer within the limits.
        """
        arguments = ["-l", "+".join(self.languages), "--psm", layout, "--dpi", str(dpi), "-c", "tessedit_create_hocr=1"]
        return self._run(image, arguments, seconds, memory_bytes)

    def orientation(self, image: Image, *, dpi: int, seconds: float, memory_bytes: int) -> Orientation:
        """How a picture stands and in which script it is printed; nothing of it when the engine cannot tell."""
        if not self.knows_orientation:
            return Orientation()
        try:
            answer = self._run(image, ["-l", "osd", "--psm", "0", "--dpi", str(dpi)], seconds, memory_bytes)
        except OcrFailed:
            return Orientation()
        turned, script = _ROTATE.search(answer), _SCRIPT.search(answer)
        return Orientation(
            int(turned[1]) % 360 if turned is not None else 0,
            float(turned[2]) if turned is not None else 0.0,
            script[1].decode() if script is not None and float(script[2]) >= _SURE_SCRIPT else "",
        )

    def foreign(self, script: str) -> str:
        """What to say of a script that none of the languages is written in; "" where one may be, or who knows."""
        of_script = _LANGUAGES.get(script, "").split()
        if not of_script or any(name.split("_")[0] in of_script for name in self.languages):
            return ""
        return f"the print looks {script}, which {'+'.join(self.languages)} is not written in ([parsing] ocr_languages)"

    def _run(self, image: Image, arguments: list[str], seconds: float, memory_bytes: int) -> bytes:
        picture = b"P5 %d %d 255\n" % image.size + image.tobytes()
        try:
            process = subprocess.Popen(  # noqa: S603 - a program that we looked for, arguments of our own
                [self.path, "stdin", "stdout", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        except OSError as error:
            raise OcrFailed(f"tesseract does not start: {error.strerror}") from error
        with process:
            _limit(process.pid, memory_bytes)
            try:
                answer, _ = process.communicate(picture, timeout=max(seconds, 0.1))
            except subprocess.TimeoutExpired as error:
                raise OcrFailed(f"tesseract took more than {seconds:.0f} s") from error
            except OSError as error:
                raise OcrFailed(f"tesseract went away: {error.strerror}") from error
            finally:
                process.kill()
        if process.returncode:
            raise OcrFailed(f"tesseract ended with status {process.returncode}")
        return answer


def packages_of(languages: Iterable[str]) -> str:
    """The Debian packages of languages in tesseract's names, parted by spaces."""
    return " ".join(f"tesseract-ocr-{name.replace('_', '-')}" for name in languages)


def find_engine(languages: str) -> Engine | None:
    """The engine on this machine, None when there is none or none of the languages (``eng+ita``)."""
    path = shutil.which("tesseract")
    if path is None:
        return None
    try:
        version = _VERSION.search(_said(path, "--version"))
        known = frozenset(_said(path, "--list-langs").split())
    except (OSError, subprocess.SubprocessError):
        return None
    wanted = tuple(dict.fromkeys(part for part in languages.split("+") if part))
    there = tuple(part for part in wanted if part in known)
    if version is None or not there:
        return None
    missing = tuple(part for part in wanted if part not in known)
    return Engine(path, version[1], there, missing, "osd" in known)


def _said(path: str, option: str) -> str:
    done = subprocess.run(  # noqa: S603 - the same program
        [path, option], capture_output=True, timeout=_LOOK_SECONDS, check=True, env=_environment()
    )
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "OMP_THREAD_LIMIT": "1"}


def _limit(pid: int, memory_bytes: int) -> None:
    """Limit a program's address space; what is already lower stays."""
    try:
        soft, hard = resource.prlimit(pid, resource.RLIMIT_AS)
        lower = memory_bytes if soft == resource.RLIM_INFINITY else min(memory_bytes, soft)
        resource.prlimit(pid, resource.RLIMIT_AS, (lower, hard))
    except (ProcessLookupError, PermissionError):  # it has ended already
        return
