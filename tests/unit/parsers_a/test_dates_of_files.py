"""Every format that carries dates gives them, and canonical metadata holds them as ISO 8601."""

from __future__ import annotations

import io
import zipfile

import pytest

from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.types import Acl, Source, sha256_hex

CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    ' xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    '<dcterms:created xsi:type="dcterms:W3CDTF">2024-03-05T14:30:00Z</dcterms:created>'
    '<dcterms:modified xsi:type="dcterms:W3CDTF">2024-03-06T08:00:00+01:00</dcterms:modified></cp:coreProperties>'
)
DOCX = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "word/document.xml": '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body><w:p><w:r><w:t>Words of it.</w:t></w:r></w:p></w:body></w:document>",
    "docProps/core.xml": CORE,
}
OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>Book</dc:title><dc:date>5 March 2024</dc:date></metadata>"
    '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/></spine></package>'
)
EPUB = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="o.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    "o.opf": OPF,
    "a.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Words of it.</p></body></html>',
}


def packed(parts: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


def pdf() -> bytes:
    """One page that says "Words", with an information dictionary."""
    content = b"BT /F1 12 Tf 20 100 Td (Words) Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</CreationDate(D:20240305143000+01'00')/ModDate(yesterday)>>",
    ]
    body, starts = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        starts.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    tail = b"trailer<</Size 7/Root 1 0 R/Info 6 0 R>>\nstartxref\n%d\n%%%%EOF" % len(body)
    return body + b"xref\n0 7\n0000000000 65535 f \n" + table + tail


HTML = (
    b'<html lang="en"><head><meta property="article:published_time" content="2024-03-05T14:30:00+01:00">'
    b'<meta name="dcterms.modified" content="Tue, 5 Mar 2024 14:30:00 GMT"></head>'
    b"<body><p>Words of it.</p></body></html>"
)
MARKDOWN = b"---\ndate: 05.03.2024\nupdated: sometime\n---\n\nWords of it.\n"
MAIL = b"Subject: Leave\nFrom: ada@example.com\nDate: Tue, 5 Mar 2024 14:30:00 +0100\n\nWords of it.\n"


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("a.docx", packed(DOCX), {"created": "2024-03-05T14:30:00+00:00", "created_original": "2024-03-05T14:30:00Z"}),
        ("a.docx", packed(DOCX), {"modified": "2024-03-06T08:00:00+01:00"}),
        ("a.epub", packed(EPUB), {"date": "2024-03-05", "date_original": "5 March 2024"}),
        ("a.pdf", pdf(), {"created": "2024-03-05T14:30:00+01:00", "created_original": "D:20240305143000+01'00'"}),
        ("a.pdf", pdf(), {"modified": "yesterday"}),
        ("a.html", HTML, {"published": "2024-03-05T14:30:00+01:00", "modified": "2024-03-05T14:30:00+00:00"}),
        ("a.md", MARKDOWN, {"date": "2024-03-05", "date_original": "05.03.2024", "updated": "sometime"}),
        ("a.eml", MAIL, {"date": "2024-03-05T14:30:00+01:00", "date_original": "Tue, 5 Mar 2024 14:30:00 +0100"}),
    ],
)
def test_dates_of_every_format(name: str, body: bytes, told: dict[str, str]) -> None:
    source = Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)
    metadata = canonicalise(parse_body(source), source, tenant="t").metadata
    assert {key: metadata.get(key) for key in told} == told
