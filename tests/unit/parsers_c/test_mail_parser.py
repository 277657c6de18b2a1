"""Mails to blocks."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage

import pytest

from container_making import compound, outlook, strings
from fonte.errors import EncryptedSource, FonteError, ParseError
from fonte.parsers.containers.walk import MemberReader, list_contents
from fonte.parsers.mail.eml import read_eml, unflowed
from fonte.parsers.mail.msg import is_msg
from fonte.parsers.registry import parse_body
from fonte.types import Acl, Parsed, Source, sha256_hex

HEAD = b"From: Ada <ada@example.com>\nTo: bo@example.com\nSubject: Pumps\n"


def source(body: bytes, name: str = "m.eml") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def parse(body: bytes, name: str = "m.eml") -> Parsed:
    return parse_body(source(body, name))


def told(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parsed.blocks]


def codes(parsed: Parsed) -> dict[str, int]:
    return {loss.code: loss.count for loss in parsed.losses}


def body_of(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks[2:]]


def test_subject_headers_and_text() -> None:
    parsed = parse(
        HEAD + b"Date: Mon, 4 Mar 2024 10:15:00 +0100\nMessage-ID: <x@y>\n\nHello Bo,\n\nthe pump runs.\nIn hall 3.\n"
    )
    assert parsed.title == "Pumps"
    assert told(parsed) == [
        ("heading", "Pumps"),
        (
            "paragraph",
            "From: Ada <ada@example.com>\nTo: bo@example.com\nDate: Mon, 4 Mar 2024 10:15:00 +0100\nSubject: Pumps",
        ),
        ("paragraph", "Hello Bo,"),
        ("paragraph", "the pump runs.\nIn hall 3."),
    ]
    assert parsed.metadata["date"] == "2024-03-04T10:15:00+01:00"
    assert parsed.metadata["date_original"] == "Mon, 4 Mar 2024 10:15:00 +0100"
    assert parsed.metadata["message_id"] == "<x@y>"
    assert parsed.source_counts.words == sum(
        len(text.replace("@", " ").replace(".", " ").replace(":", " ").replace("+", " ").split())
        for _, text in told(parsed)
    )


def test_encoded_headers_and_text_in_an_old_encoding() -> None:
    parsed = parse(
        b"From: =?iso-8859-1?Q?Jos=E9?= <j@example.com>\nSubject: =?utf-8?B?UGVyY2jDqQ==?=\n"
        b"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nCitt=E0\n"
    )
    assert told(parsed)[0] == ("heading", "Perché")
    assert "José" in told(parsed)[1][1]
    assert body_of(parsed) == ["Città"]


def test_the_plain_text_of_alternatives_is_taken_and_html_where_there_is_none() -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "Both", "a@example.com"
    message.set_content("plain words")
    message.add_alternative("<p>rich words</p>", subtype="html")
    assert body_of(parse(message.as_bytes())) == ["plain words"]
    message = EmailMessage()
    message["Subject"], message["From"] = "Rich", "a@example.com"
    message.set_content(" \n")
    message.add_alternative(
        "<h2>Title</h2><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", subtype="html"
    )
    parsed = parse(message.as_bytes())
    assert told(parsed)[2:] == [("heading", "Title"), ("row", "A | B"), ("row", "A: 1; B: 2")]
    assert parsed.source_counts.rows == 2


def test_attachments_in_an_alternative_that_was_not_taken_are_kept() -> None:
    """As some programs nest them: alternative(plain, mixed(html, pdf, html))."""
    inner = (
        b'Content-Type: multipart/mixed; boundary="i"\n\n--i\nContent-Type: text/html\n\n<p>rich</p>\n'
        b'--i\nContent-Type: application/pdf\nContent-Disposition: inline; filename="r.pdf"\n\n%PDF-1.4\n--i--\n'
    )
    body = (
        HEAD
        + b'Content-Type: multipart/alternative; boundary="o"\n\n--o\nContent-Type: text/plain\n\nplain\n--o\n'
        + inner
        + b"\n--o--\n"
    )
    parsed = parse(body)
    assert body_of(parsed) == ["plain"]
    assert [one.inside for one in list_contents(source(body)).members] == [("r.pdf",)]
    assert parsed.metadata["attachments"] == "1"


def test_what_a_reply_quotes_is_told_apart() -> None:
    parsed = parse(HEAD + b"\nYes.\n\nOn Monday Bo wrote:\n> is it 41 bar?\n>> really\nNo.\n")
    assert told(parsed)[2:] == [
        ("paragraph", "Yes."),
        ("paragraph", "On Monday Bo wrote:"),
        ("note", "> is it 41 bar?\n>> really"),
        ("paragraph", "No."),
    ]


def test_flowed_text_has_its_lines_whole() -> None:
    written = "one \ntwo\n> q \n> r\n-- \nAda\nx \n\ny"
    assert unflowed(written) == "one two\n> q r\n--\nAda\nx\n\ny"


def test_pictures_in_the_text_are_told_and_not_attachments() -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "Logo", "a@example.com"
    message.set_content('<p>Hi</p><img src="cid:logo">', subtype="html")
    message.add_related(b"\x89PNG", "image", "png", cid="<logo>")
    message.add_attachment(b"\x89PNG", "image", "png", filename="photo.png")
    parsed = parse(message.as_bytes())
    assert codes(parsed) == {"images": 1}
    assert [one.inside for one in list_contents(source(message.as_bytes())).members] == [("photo.png",)]


def test_a_mail_in_a_mail_is_a_document_of_its_own() -> None:
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "Inner", "x@example.com"
    inner.set_content("deep words")
    outer = EmailMessage()
    outer["Subject"], outer["From"] = "Outer", "a@example.com"
    outer.set_content("see below")
    outer.add_attachment(inner)
    body = outer.as_bytes()
    (member,) = list_contents(source(body)).members
    with MemberReader() as reader:
        again = reader.read(Source("u", "m.eml", "", Acl(), body=body, inside=member.inside))
    assert member.inside == ("attachment-1.eml",)
    assert body_of(parse(again, "attachment-1.eml")) == ["deep words"]
    assert "deep" not in str(told(parse(body)))


@pytest.mark.parametrize(
    "head",
    [
        b"Subject: =?utf-8?B?!!!?=\nFrom: <<<>>>,;:@\n",
        b"Subject: x\nFrom: a\nContent-Type: ;;;charset\n",
        b"Subject: x\nFrom: a\nDate: yesterday\nContent-Disposition: attachment; filename*=utf-8''%FF%\n",
        b"Subject: x\nContent-Type: text/plain; charset=no-such-thing\nContent-Transfer-Encoding: magic\n",
        b"Subject: x\nContent-Type: multipart/mixed\n",
        b"From: a\nContent-Type: multipart/mixed; boundary=x\n",
    ],
)
def test_malformed_headers_are_no_crash(head: bytes) -> None:
    try:
        parsed = parse(head + b"\nthe words\n")
    except ParseError:
        pytest.fail("there are headers and words")
    assert parsed.blocks


def test_nested_parts_are_read_and_too_deeply_nested_ones_are_a_typed_failure() -> None:
    def nested(depth: int) -> bytes:
        text = b"Content-Type: text/plain\n\nbottom\n"
        for at in range(depth):
            text = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) + text + b"\n--b%d--\n" % at
        return text

    assert read_eml(nested(100), "m.eml").texts[0].text.strip() == "bottom"
    with pytest.raises(ParseError, match="more than 1600 parts"):
        read_eml(nested(9000), "m.eml")


def test_encrypted_mails_are_told() -> None:
    with pytest.raises(EncryptedSource):
        parse(HEAD + b"Content-Type: application/pkcs7-mime; name=smime.p7m\n\nMIIB\n")


def test_a_web_archive_is_read_without_its_style_sheets() -> None:
    body = (
        b"From: <Saved by a browser>\nSubject: Page\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n"
        b"--x\nContent-Type: text/html\nContent-Location: http://e/\n\n<h1>Page</h1><p>words</p>\n"
        b"--x\nContent-Type: text/css\nContent-Location: http://e/a.css\n\nbody {}\n--x--\n"
    )
    parsed = parse(body, "page.mhtml")
    assert body_of(parsed) == ["Page", "words"]
    assert list_contents(source(body, "page.mhtml")).members == ()


def test_an_attachment_or_a_text_that_says_where_it_was_is_not_taken_for_a_picture() -> None:
    body = (
        HEAD + b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
        b"--x\nContent-Type: text/plain\nContent-Location: http://e/t\n\nSee below.\n"
        b"--x\nContent-Type: text/csv; name=rain.csv\nContent-Location: rain.csv\n"
        b"Content-Disposition: attachment; filename=rain.csv\n\na,b\n--x--\n"
    )
    parsed = parse(body)
    assert (body_of(parsed), codes(parsed)) == (["See below."], {})
    assert [one.inside for one in list_contents(source(body)).members] == [("rain.csv",)]


# --- Outlook


def test_an_outlook_message_with_its_attachments() -> None:
    sent = (133_540_000_000_000_000).to_bytes(8, "little")
    properties = b"\0" * 32 + b"\x40\x00\x39\x00" + b"\x06\0\0\0" + sent
    tree = strings(p0037="Pompe", p0c1a="Ada", p5d01="ada@example.com", p0e04="Bo; Cy", p1000="Ciao\r\n\r\nla pompa.")
    inner = {"__properties_version1.0": b"\0" * 24, **strings(p0037="Inner", p1000="deep words")}
    attached = {
        "__attach_version1.0_#00000000": {**strings(p3707="a.md"), "__substg1.0_37010102": b"# A"},
        "__attach_version1.0_#00000001": {**strings(p3001="Inner"), "__substg1.0_3701000D": inner},
        "__attach_version1.0_#00000002": {**strings(p3707="x.png", p3712="cid"), "__substg1.0_37010102": b"png"},
        "__attach_version1.0_#00000003": strings(p3707="link.md"),
    }  # fmt: skip
    body = outlook({"__properties_version1.0": properties, **tree, **attached})
    assert is_msg(body)
    parsed = parse(body, "m.msg")
    assert told(parsed) == [
        ("heading", "Pompe"),
        ("paragraph", "From: Ada <ada@example.com>\nTo: Bo; Cy\nDate: 2024-03-04T04:26:40+00:00\nSubject: Pompe"),
        ("paragraph", "Ciao"),
        ("paragraph", "la pompa."),
    ]
    assert codes(parsed) == {"images": 1, "parts_lost": 1}
    contents = list_contents(source(body, "m.msg"))
    assert [one.inside for one in contents.members] == [("a.md",), ("Inner.eml",)]
    with MemberReader() as reader:
        again = reader.read(Source("u", "m.msg", "", Acl(), body=body, inside=("Inner.eml",)))
    assert sha256_hex(again) == contents.members[1].content_hash
    assert body_of(parse(again, "Inner.eml")) == ["deep words"]


def test_an_outlook_message_of_html_alone_or_of_rich_text_alone() -> None:
    html = {**strings(p0037="H"), "__substg1.0_10130102": b"<p>rich <b>words</b></p>"}
    assert [text for _, text in told(parse(outlook(html), "m.msg"))] == ["H", "Subject: H", "rich words"]
    rtf = {**strings(p0037="R"), "__substg1.0_10090102": b"\0" * 32}
    assert codes(parse(outlook(rtf), "m.msg")) == {"parts_lost": 1}


def test_an_old_office_file_that_mentions_a_message_is_none() -> None:
    body = compound({"WordDocument": "__properties_version1.0".encode("utf-16-le")})
    assert not is_msg(body)
    with pytest.raises(FonteError, match="Word 95 or older, or damaged"):
        parse(body, "a.doc")


def test_an_attachment_does_not_decide_what_the_message_is() -> None:
    attached = {**strings(p3707="a.doc"), "__substg1.0_37010102": "WordDocument EncryptedPackage".encode("utf-16-le")}
    body = outlook({**strings(p0037="x", p1000="words"), "__attach_version1.0_#00000000": attached})
    assert body_of(parse(body, "m.msg")) == ["words"]


def test_damaged_messages_are_typed_failures() -> None:
    whole = outlook(strings(p0037="x", p1000="words " * 500))
    for cut in range(600, len(whole), 700):
        try:
            parsed = parse(whole[:cut], "m.msg")
        except FonteError as error:
            assert error.message
        else:
            assert parsed.blocks


def test_a_mail_with_nothing_to_read_is_no_success() -> None:
    with pytest.raises(ParseError, match="neither headers nor text"):
        parse(b"X-Spam: yes\nX-Other: 1\n\n  \n")


def test_attachments_of_a_mail_in_an_archive_are_found() -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "In", "a@example.com"
    message.set_content("x")
    message.add_attachment(b"# N", "text", "markdown", filename="n.md")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mails/one.eml", message.as_bytes())
    contents = list_contents(source(data.getvalue(), "a.zip"))
    assert [one.inside for one in contents.members] == [("mails/one.eml",), ("mails/one.eml", "n.md")]
