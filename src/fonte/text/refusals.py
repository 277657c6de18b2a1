"""Whether a sentence says that there is no answer: what models write instead of the word that they were asked for.

English and Italian. A sentence about the sources alone ("the sources do not say") is one; a claim that a document makes
of its own subject ("the policy sets no limit") is none.
"""

from __future__ import annotations

import re

from fonte.types import NO_ANSWER

_SOURCES = (
    r"(?:sources?|passages?|context|excerpts?|extracts?|search\s+results?|"
    r"(?:provided|given|available|numbered|retrieved|above)\s+(?:\w+\s+)?(?:documents?|texts?|information|materials?))"
)
_FONTI = (
    r"(?:fonti|fonte|passaggi|passaggio|contesto|estratti|"
    r"(?:documenti|documento|testi|testo|informazioni)\s+(?:fornit|disponibil|dat|recuperat)\w+)"
)
_SAY = r"(?:contain|hold|say|mention|provide|include|specify|give|answer|state|address|tell|offer|cover|have|indicate)"
_DICE = (
    r"(?:contengono|contiene|riportano|riporta|dicono|dice|menzionano|menziona|specificano|specifica|forniscono|"
    r"fornisce|indicano|indica|rispondono|risponde|trattano|tratta|parlano|parla|includono|include)"
)
_REFUSALS = (
    rf"^\W*{NO_ANSWER}\b",
    r"\bI(?:\s+really|\s+simply)?\s+(?:do\s+not|don['’]t)\s+know\b",
    r"\bI\s+(?:do\s+not|don['’]t)\s+have\s+(?:\w+\s+){0,3}(?:information|answer|data)",
    (
        r"\bI(?:['’]m|\s+am|\s+was)?\s+(?:can\s?not|can['’]t|could\s+not|couldn['’]t|(?:not\s+able|unable)\s+to)\s+"
        r"(?:\w+\s+)?(?:find|answer|say|tell|determine|provide|locate|help|assist)\b"
    ),
    rf"\b{_SOURCES}\b[^.,;]{{0,40}}\b(?:do|does|did)(?:\s+not|n['’]t)\s+(?:\w+\s+){{0,2}}{_SAY}\b",
    (
        r"\bthere\s+(?:is|are|was)\s+(?:no|not\s+enough|insufficient)\s+(?:\w+\s+){0,2}(?:information|mention|answer)s?\b"
        rf"[^.;]{{0,60}}\b(?:{_SOURCES}|to\s+answer|provided|available|about\s+(?:this|that)|on\s+(?:this|that))"
    ),
    r"^\W*(?:no|not\s+enough|insufficient)\s+(?:\w+\s+){0,2}information\b",
    (
        r"\b(?:is|are|was|were)(?:\s+not|n['’]t)\s+(?:\w+\s+)?(?:mentioned|specified|stated|provided|given|covered|found|"
        rf"included|available|answered)\s+(?:in|by)\s+(?:the\s+|any\s+of\s+the\s+)?(?:\w+\s+)?{_SOURCES}"
    ),
    r"\bthe\s+(?:question|answer)\s+(?:can\s?not|can['’]t)\s+be\s+(?:answered|found|determined|given)\b",
    r"^\W*(?:mi\s+dispiace,?\s+(?:ma\s+)?)?(?:io\s+)?non\s+(?:lo\s+)?so\b",
    r"\bnon\s+(?:posso|riesco\s+a|sono\s+in\s+grado\s+di|saprei)\s+(?:\w+\s+)?(?:rispond|trova|dir|determina|forni)\w+",
    r"\bnon\s+(?:trovo|ho\s+trovato|dispongo\s+di|ho)\s+(?:\w+\s+){0,2}informazion\w+",
    rf"\b{_FONTI}\b[^.,;]{{0,40}}\bnon\s+(?:lo\s+|la\s+|ne\s+)?{_DICE}\b",
    r"\bnon\s+(?:ci|vi)\s+sono\s+(?:\w+\s+){0,2}informazion\w+",
    r"^\W*(?:le\s+)?informazioni\s+(?:\w+\s+){0,2}(?:insufficienti|non\s+sono\s+sufficienti)",
    (
        r"\bnon\s+(?:è|sono|viene|vengono)\s+(?:\w+\s+)?(?:menzionat|specificat|indicat|riportat|present|fornit|trovat)\w*\s+"
        rf"(?:nelle|nei|nel|nella|dalle|dai|in\s+queste)\s+(?:\w+\s+)?{_FONTI}"
    ),
)
_ANY = re.compile("|".join(_REFUSALS), re.IGNORECASE)


def is_refusal(sentence: str) -> bool:
    """Whether the sentence (without markers) says that the sources do not hold the answer."""
    return _ANY.search(sentence) is not None
