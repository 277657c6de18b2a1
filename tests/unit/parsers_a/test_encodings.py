"""Bytes to text."""

from __future__ import annotations

import pytest

from fonte.parsers.encodings import decode, normalise_newlines

ITALIAN = "Perché la città è così bella? Più di 26 giorni: «sì», disse l’uomo – 5 €.\n" * 3


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ITALIAN, "utf-8"),
        (ITALIAN, "utf-8-sig"),
        (ITALIAN, "utf-16"),
        (ITALIAN, "utf-16-le"),
        (ITALIAN, "utf-16-be"),
        (ITALIAN, "utf-32"),
        (ITALIAN, "utf-32-le"),
        (ITALIAN, "utf-32-be"),
        (ITALIAN, "cp1252"),
        ("Ça déjà vu, où êtes-vous ? Señor Muñoz, größer und schöner.\n" * 2, "latin-1"),
        ("Привет, мир! Это простой русский текст для проверки кодировки.\n" * 4, "cp1251"),
        ("Привет, мир! Это простой русский текст для проверки кодировки.\n" * 4, "koi8-r"),
        ("これは日本語の文章です。文字コードを調べます。\n" * 4, "shift_jis"),
        ("これは日本語の文章です。文字コードを調べます。\n" * 4, "euc_jp"),
        ("東京の天気は晴れ\n" * 3, "utf-16-le"),
        ("plain ascii\n", "ascii"),
    ],
)
def test_text_comes_back_from_every_encoding(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert decoded.text.removeprefix("\ufeff") == text
    assert decoded.replaced == 0


@pytest.mark.parametrize("body", [b"\xe9", b"caff\xe8", b"Nome;Citt\xe0\nMario;Forl\xec\n", b"perch\xe9 l\x92uomo"])
def test_case_92_a_single_latin_letter_is_detected(body: bytes) -> None:
    decoded = decode(body)
    assert decoded is not None
    assert decoded.text == body.decode("cp1252")


def test_the_whole_file_is_looked_at_not_its_head() -> None:
    body = b"ascii only\n" * 100_000 + b"e in fondo: perch\xe9\n"
    decoded = decode(body)
    assert decoded is not None
    assert decoded.text.endswith("perché\n")


def test_utf8_with_a_few_broken_bytes_stays_utf8_and_counts_them() -> None:
    body = ("è così " * 20).encode() + b"\xff" + "perché".encode()
    decoded = decode(body)
    assert decoded is not None
    assert (decoded.encoding, decoded.replaced) == ("utf-8", 1)
    assert decoded.text.endswith("\ufffdperché")


def test_stray_nuls_are_replaced_and_counted() -> None:
    decoded = decode(b"some words\0and more of them")
    assert decoded is not None
    assert (decoded.text, decoded.replaced) == ("some words\ufffdand more of them", 1)


@pytest.mark.parametrize("body", [bytes(range(256)) * 4, b"\0" * 100, b"\x7fELF\x02\x01\x01" + b"\0\x01" * 300])
def test_binary_data_is_no_text(body: bytes) -> None:
    assert decode(body) is None


def test_a_declaration_is_believed_only_when_it_fits() -> None:
    utf8 = decode("perché".encode(), declared="iso-8859-1")
    lying = decode("perché".encode("cp1252"), declared="utf-8")
    fitting = decode("Ελλάδα".encode("iso8859-7"), declared="iso-8859-7")
    unknown = decode(b"plain", declared="klingon")
    zipped = decode(b"plain", declared="zlib")
    assert [found.text for found in (utf8, lying, fitting, unknown, zipped) if found] == [
        "perché", "perché", "Ελλάδα", "plain", "plain"
    ]  # fmt: skip


def test_newlines_become_one_kind() -> None:
    assert normalise_newlines("a\r\nb\rc\n\r\nd") == "a\nb\nc\n\nd"
