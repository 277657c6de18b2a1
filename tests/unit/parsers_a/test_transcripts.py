"""Captions: turns of speakers, the time of every word, nothing twice."""

from __future__ import annotations

import pytest

from fonte.errors import ParseError
from fonte.parsers.transcripts import TranscriptParser
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN, balance
from fonte.text.locate import fragment, label, locate
from fonte.types import Acl, Chunk, Document, Parsed, Source, sha256_hex


def source(text: str, name: str = "talk.vtt") -> Source:
    body = text.encode()
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def parse(text: str, name: str = "talk.vtt") -> Parsed:
    return TranscriptParser().parse(source(text, name))


def document(text: str, name: str = "talk.vtt") -> Document:
    taken = source(text, name)
    return canonicalise(TranscriptParser().parse(taken), taken, tenant="default")


def texts(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks]


VOICES = """WEBVTT - The museum

NOTE who: two people

00:11.000 --> 00:13.000
<v Roger Bingham>We are at the hotel, just

00:13.000 --> 00:16.500
<v Roger Bingham>down the <i>street</i> &amp; the &lt;park&gt;.

01:00:17.000 --> 01:00:20.000
<v.loud Neil>Thank you
for <00:00:18.000>coming.</v>

01:00:21.000 --> 01:00:22.000
(music)
"""


def test_cues_become_turns_with_names_without_tags_and_with_entities_read() -> None:
    assert texts(parse(VOICES)) == [
        "Roger Bingham: We are at the hotel, just down the street & the <park>.",
        "Neil: Thank you for coming.",
        "(music)",
    ]
    assert parse(VOICES).title == "The museum"


def test_every_place_in_a_turn_has_the_times_of_its_cues() -> None:
    made = document(VOICES)
    for wanted, time, link in (
        ("down the street", (13.0, 16.5), "#t=13,16.5"),
        ("just down", (11.0, 16.5), "#t=11,16.5"),
        ("Roger Bingham", (11.0, 13.0), "#t=11,13"),
        ("coming", (3617.0, 3620.0), "#t=3617,3620"),
    ):
        at = made.text.index(wanted)
        place = locate(made, at, at + len(wanted))
        assert place.time == time
        assert fragment(made, place) == link
    at = made.text.index("coming")
    assert locate(made, at, at + 6).lines == (13, 13)
    assert label(made, locate(made, at, at + 6), ()) == "talk.vtt, 1:00:17-1:00:20"


def test_every_character_that_is_no_space_has_a_time() -> None:
    made = document(VOICES)
    for at, character in enumerate(made.text):
        if not character.isspace():
            assert locate(made, at, at + 1).time is not None


def test_srt_names_before_the_words_hold_until_the_next() -> None:
    parsed = parse(
        "1\n00:00:01,000 --> 00:00:02,000\nANNA: The first half\n\n"
        "2\n00:00:02,000 --> 00:00:03,000\nANNA: of a sentence.\n\n"
        "3\n00:00:03,000 --> 00:00:04,000\nAnd one more.\n\n"
        "4\n00:00:04,000 --> 00:00:05,000\nMr. De Rossi: No.\n\n"
        "5\n00:00:05,000 --> 00:00:06,000\nSee https://example.org at 10:30: now\n",
        "talk.srt",
    )
    assert texts(parsed) == [
        "ANNA: The first half of a sentence. And one more.",
        "Mr. De Rossi: No. See https://example.org at 10:30: now",
    ]


def test_two_speakers_with_dashes_are_two_turns_and_the_next_cue_is_nobodys() -> None:
    parsed = parse(
        "1\n00:00:01,000 --> 00:00:02,000\n- A cup?\n- No tea.\n\n2\n00:00:02,000 --> 00:00:03,000\nLater.\n"
    )
    assert texts(parsed) == ["- A cup?", "- No tea.", "Later."]


ROLLING = """WEBVTT

00:00:01.000 --> 00:00:03.000
we begin with

00:00:03.000 --> 00:00:03.010
we begin with

00:00:03.010 --> 00:00:06.000
we begin with
the<00:00:04.000><c> first</c><00:00:05.000><c> part</c>

00:00:06.000 --> 00:00:06.010
the first part

00:00:06.010 --> 00:00:09.000
the first part
of two
"""


def test_rolling_captions_are_not_doubled_and_what_is_left_out_is_told() -> None:
    parsed = parse(ROLLING)
    assert texts(parsed) == ["we begin with the first part of two"]
    words = parsed.source_counts.words
    told = next(loss for loss in parsed.losses if loss.code == "boilerplate")
    assert words - told.count == 8


def test_people_who_say_a_thing_twice_are_heard_twice() -> None:
    parsed = parse(
        "WEBVTT\n\n00:01.000 --> 00:02.000\nNo!\n\n00:02.000 --> 00:03.000\nNo!\n\n00:03.000 --> 00:04.000\nWhy?"
    )
    assert texts(parsed) == ["No! No! Why?"]


def test_the_same_caption_twice_at_one_time_is_one() -> None:
    parsed = parse("WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n\n00:01.000 --> 00:02.000\nHello.\n")
    assert texts(parsed) == ["Hello."]


def test_sbv_with_two_lines() -> None:
    parsed = parse(
        "0:00:00.378,0:00:11.378\nfirst (line 1)\nfirst (line 2)\n\n1:00:00.000,1:00:01.000\nsecond", "t.sbv"
    )
    assert texts(parsed) == ["first (line 1) first (line 2)", "second"]
    assert parsed.blocks[1].places[-1].time == (3600.0, 3601.0)


def test_text_without_times_is_kept_and_told() -> None:
    parsed = parse("WEBVTT\n\n00:01.000 --> 00:02.000\nOne.\n\nLost.\n\n00:07.000 --> 00:1d.890\nBad.\n")
    assert texts(parsed) == ["One. Lost. Bad."]
    told = {loss.code: loss.message for loss in parsed.losses}
    assert told["untimed_text"].endswith("line 6")
    assert told["bad_time"].endswith("line 8")
    assert not BENIGN & told.keys()


def test_words_above_the_times_are_a_name_in_vtt_and_text_elsewhere() -> None:
    cue = "a name\n00:00:01.000 --> 00:00:02.000\nsaid\n"
    assert texts(parse(f"WEBVTT\n\n{cue}")) == ["said"]
    parsed = parse(cue, "t.srt")
    assert texts(parsed) == ["a name said"]
    assert [loss.code for loss in parsed.losses] == ["untimed_text"]


@pytest.mark.parametrize("text", ["1\n", "some text", "WEBVTT\n\njust words\n"])
def test_text_without_any_times_is_no_transcript(text: str) -> None:
    with pytest.raises(ParseError, match="two times"):
        parse(text)


def test_a_header_alone_is_empty() -> None:
    parsed = parse("WEBVTT\n")
    assert (parsed.blocks, parsed.empty_reason) == ((), "empty")


def test_long_turns_are_cut_at_sentence_ends_and_keep_the_name() -> None:
    cues = "".join(
        f"{at // 60:02}:{at % 60:02}.000 --> {at // 60:02}:{at % 60:02}.900\n<v Ada>This is sentence number {at}.\n\n"
        for at in range(1, 60)
    )
    parsed = parse(f"WEBVTT\n\n{cues}")
    assert len(parsed.blocks) > 2
    assert all(block.text.startswith("Ada: This is") and len(block.text) < 700 for block in parsed.blocks)


def test_the_books_of_a_transcript_balance() -> None:
    taken = source(VOICES)
    parsed = TranscriptParser().parse(taken)
    made = canonicalise(parsed, taken, tenant="default")
    chunk = Chunk("c", made.id, 0, 0, len(made.text), made.text)
    assert balance(parsed, made, [chunk], window=512).balanced
