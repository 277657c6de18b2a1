"""Signs that a text gives orders to a machine, in English and Italian: passages are flagged for them, never changed.

A list of rules: it knows the common ways and not the clever ones, and a text about such attacks shows the same signs.
What keeps an answer safe does not rest on it (see docs/security.md); it tells people where to look.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

_ANSWER = r"(?:answer|response|reply|output|summary)"
_RISPOSTA = r"(?:risposta|riassunto|output)"
_MODEL = r"(?:A\.?I\.?|assistant|chat\s?bot|language\s+model|LLM|GPT|model)"
_MODELLO = r"(?:assistente|chat\s?bot|modello(?:\s+linguistico)?|intelligenza\s+artificiale|IA|AI|LLM|GPT)"
_VERBS = (
    r"(?:add|include|insert|integrate|append|embed|incorporate|replace|use|remove|omit|group|combine|convert|translate|"
    r"rearrange|jumble|misspell|introduce|scramble|modify|enhance|augment|supplement|enrich|end|begin|start|finish|write|"
    r"encode|substitute|swap|provide|offer|mention|promote|suggest|put|place|weave|slip|change|alter|shuffle|make)"
)
_VERBI = (
    r"(?:aggiungi|includi|inserisci|integra|sostituisci|usa|rimuovi|ometti|converti|traduci|modifica|termina|inizia|"
    r"concludi|scrivi|codifica|menziona|consiglia|suggerisci|promuovi|metti|arricchisci)"
)
_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "override": (
        (
            r"\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|"
            r"foregoing|system|initial|original|other)\b[^.\n]{0,20}\b(?:instruction|prompt|rule|direction|guideline|message|"
            r"command|context|text|question)s?\b"
        ),
        (
            r"\b(?:ignore|disregard|forget)\s+(?:all|any|your|everything)\b[^.\n]{0,30}\b(?:instruction|prompt|rule|told|"
            r"guideline|safety|above|before)s?\b"
        ),
        r"\b(?:ignore|disregard|forget)\s+(?:\w+\s+){0,3}(?:instruction|prompt|rule|guideline)s?\s+(?:given\s+)?(?:above|before)\b",
        (
            r"\b(?:ignora|ignorate|dimentica|dimenticate|trascura|tralascia|scavalca|non\s+(?:considerare|seguire))\b[^.\n]"
            r"{0,40}\b(?:istruzion|regol|indicazion|comand|direttiv|prompt|messaggi|domand)\w*[^.\n]{0,20}"
        ),
        r"\b(?:new|updated|real|hidden|secret)\s+(?:system\s+)?(?:instructions?|prompt|directives?)\s*:",
        r"\b(?:nuov[ei]|ver[ei]|nascost[ei])\s+(?:istruzioni|direttive|ordini)\s*:",
    ),
    "role": (
        r"<\|[\w-]{2,30}\|>|<｜[^<>｜]{2,30}｜>|\[/?INST\]|<<SYS>>|</?(?:start|end)_of_turn>",
        r"</?\s*(?:system|assistant|system_prompt|instructions?)\s*>",
        r"^[ \t#*>]*(?:system(?:\s+(?:prompt|message|override))?|assistant)[ \t]*\**[ \t]*:",
        r"^#{2,}[ \t]*(?:instruction|response)[ \t]*:",
    ),
    "addressed": (
        (
            rf"\b(?:dear|hey|hello|attention|note\s+(?:to|for)(?:\s+the)?|instructions?\s+(?:to|for)(?:\s+the)?|important\s+for)\s+"
            rf"(?:any\s+|all\s+|the\s+)?{_MODEL}s?\b"
        ),
        rf"\byou\s+are\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+){{0,3}}{_MODEL}\b",
        rf"\bas\s+an?\s+(?:AI|language\s+model|{_MODEL})\b[^.\n]{{0,20}}\byou\b",
        r"\bif\s+you\s+are\s+(?:an?\s+)?(?:AI|LLM|language\s+model|chat\s?bot)\b",
        rf"\b(?:caro|cara|attenzione|nota\s+per|istruzioni\s+per)\s+(?:gli\s+|l['’]\s?|il\s+|la\s+|ogni\s+|qualsiasi\s+)?{_MODELLO}\b",
        rf"\b(?:sei|agisci\s+come|comportati\s+come)\s+(?:ora\s+|adesso\s+)?(?:un['’]?\s?|una\s+|l['’]\s?)(?:\w+\s+){{0,2}}{_MODELLO}\b",
        rf"\bse\s+sei\s+(?:un['’]?\s?|una\s+)?{_MODELLO}\b",
    ),
    "answering": (
        rf"(?:^|[.!?:;|\"]\s*|\bplease\s+|\bmust\s+|\balways\s+|\s(?=(?-i:[A-Z]))){_VERBS}\b(?:[^.!?\n]|\.(?=\S)){{0,140}}\b(?:your|the)\s+(?:\w+\s+)?{_ANSWER}\b",
        r"\bwhen\s+(?:you\s+)?(?:answer|respond|reply|summari[sz]e)\w*\b[^.\n]{0,60}\b(?:always|must|say|tell|include|add|do\s+not|never)\b",
        r"\b(?:answer|reply|respond)\s+(?:only|exclusively|just|always)\s+(?:with|in|by)\b",
        r"\b(?:tell|inform|convince|instruct|urge)\s+(?:the\s+)?(?:user|reader|asker|human)s?\s+(?:that|to)\b",
        (
            r"\b(?:do\s+not|don['’]t|never)\s+(?:tell|mention|reveal|inform|disclose|cite)\b[^.\n]{0,40}\b(?:user|instructions?|"
            r"sources?|this\s+(?:note|message|text))\b"
        ),
        r"\b(?:reveal|print|repeat|output|show|leak|disclose)\b[^.\n]{0,20}\b(?:system\s+prompt|your\s+(?:instructions|prompt))\b",
        rf"\b{_VERBI}\b(?:[^.!?\n]|\.(?=\S)){{0,140}}\b(?:tua|nella|alla|della|la)\s+(?:tua\s+)?{_RISPOSTA}\b",
        r"\bquando\s+rispond(?:i|ete)\b[^.\n]{0,60}\b(?:sempre|devi|dì|di['’]|scrivi|aggiungi|non)\b",
        r"\brispond(?:i|ete)\s+(?:sempre|solo|soltanto|esclusivamente|unicamente)\b",
        r"\b(?:dì|di['’]|dici|comunica|convinci|invita)\s+(?:all['’]\s?|agli\s+|l['’]\s?|gli\s+)(?:utent[ei]|lettor[ei])\b",
        r"\b(?:rivela|mostra|ripeti|stampa)\b[^.\n]{0,20}\b(?:prompt|tue\s+istruzioni|istruzioni\s+di\s+sistema)\b",
        r"\bnon\s+(?:dire|rivelare|menzionare|citare)\b[^.\n]{0,40}\b(?:utente|istruzioni|fonti|questa\s+nota)\b",
    ),
    "hidden": (r"\[Not visible: [^\]]*[^\W\d_]",),
}
_SIGNS: Final = {
    name: re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE) for name, patterns in _PATTERNS.items()
}
_ENCODED = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/]{40,}={0,2}(?![\w+/=-])")
_UNSEEN_ALLOWED = 3
"""Characters of no width that stand in a text by chance: a soft hyphen, a joiner."""
_PRINTABLE = 0.95
_MANY_SPACES = 0.08


def signs(text: str) -> tuple[str, ...]:
    """What a text shows, each once and in a fixed order; nothing for an ordinary one.

    ``override`` (earlier orders are to be forgotten), ``role`` (tags of a chat's frame), ``addressed`` (it speaks to a
    model), ``answering`` (it says how to answer), ``hidden`` (the parser marked words that nobody sees), ``encoded``
    (base64 of a text), ``unseen`` (characters of no width).
    """
    found = [name for name, pattern in _SIGNS.items() if pattern.search(text)]
    if any(_is_text(match.group()) for match in _ENCODED.finditer(text)):
        found.append("encoded")
    if sum(unicodedata.category(one) == "Cf" for one in text if not one.isascii()) > _UNSEEN_ALLOWED:
        found.append("unseen")
    return tuple(found)


def _is_text(encoded: str) -> bool:
    """Whether base64 holds words: letters with spaces between them, which hashes and keys do not."""
    try:
        body = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    printable = sum(one.isprintable() or one.isspace() for one in body)
    return printable >= _PRINTABLE * len(body) and body.count(" ") >= _MANY_SPACES * len(body)
