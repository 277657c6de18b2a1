"""What ``orders.signs`` looks for: patterns for each sign, in English and Italian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

_ANSWER = r"(?:answers?|responses?|repl(?:y|ies)|outputs?|summar(?:y|ies))"
_ANSWER_WORDS = ("answer", "response", "repl", "output", "summar")
_RISPOSTA = r"(?:rispost[ae]|riassunt[oi]|output)"
_RISPOSTA_WORDS = ("rispost", "riassunt", "output")
_MODEL = r"(?:A\.?I\.?|assistant|chat\s?bot|language\s+model|LLM|GPT|model)"
_MODEL_WORDS = ("ai", "a.i", "assistant", "bot", "model", "llm", "gpt")
_MODELLO = r"(?:assistente|chat\s?bot|modello(?:\s+linguistico)?|intelligenza\s+artificiale|IA|AI|LLM|GPT)"
_SURELY_MODEL = (
    r"(?:A\.?I\.?(?:\s+(?:assistant|agent|model|system|chat\s?bot)s?)?|chat\s?bots?|language\s+models?|LLMs?|GPT)"
)
_SURO_MODELLO = (
    r"(?:(?:assistent[ei]|agent[ei]|modell[oi])\s+(?:di\s+)?(?:IA|AI)|IA|AI|chat\s?bot|modell[oi]\s+linguistic[oi]|LLM)"
)
_VERBS = (
    r"(?:add|include|insert|integrate|append|embed|incorporate|replace|use|remove|omit|group|combine|convert|translate|"
    r"rearrange|jumble|misspell|introduce|scramble|modify|enhance|augment|supplement|enrich|end|begin|start|finish|write|"
    r"encode|substitute|swap|provide|offer|mention|promote|suggest|put|place|weave|slip|change|alter|shuffle|make)"
)
_VERBI = (
    r"(?:aggiungi|includi|inserisci|integra|sostituisci|usa|rimuovi|ometti|converti|traduci|modifica|termina|inizia|"
    r"concludi|scrivi|codifica|menziona|consiglia|suggerisci|promuovi|metti|arricchisci)"
)
_SAY = r"(?:say|write|respond|reply|answer|output|print|tell|repeat|state)"
_DIRE = r"(?:dì|di['’]|scrivi|rispondi|stampa|ripeti|mostra|comunica)"
_BEGIN = r"(?:^|[.!?:;|\"]\s*|\bplease,?\s+|\s(?=(?-i:[A-Z])))"
"""Where an order may begin: a sentence, or a capital letter inside a line, for texts are glued together."""
_ON = r"(?:\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”|«[^»\n]{0,200}»|[^.!?\n\"“«]|\.(?=\S)){0,140}?"
"""On within a sentence, whatever stops stand in what it quotes."""
_ORDER = (
    r"(?!(?:thanks?|we|i|you|your|our|my|his|her|its|their|the|an?|this|that|these|those|if|when|it|he|she|they|there|as|"
    r"for|to|from|by|with|at|on|please|after|before|once|while|and|or|but|so|any|all|no|not|what|who|how|why|where|which|"
    r"is|are|was|do|does|did|can|could|will|would|should|may|must|has|have|had|some|each|every|in|upon|until|about|also|"
    r"then|here|per|re|fwd?|dear|hi|hello|\w+ing|\w+ed)\b)[a-z]+"
    r"(?!\s+(?:is|are|was|were|has|have|had|will|would|may|can|could|must|should|shall|does|did|\w+ed)\b)"
)
"""A word that may be an English imperative: what begins other sentences is left out."""
_ORDINE = (
    r"(?!(?:grazie|in|per|con|la|il|una?|da|di|a|i|gli|ci|mi|ti|hai|ma|sulla|nella|alla|ogni|mai|prima|dopo)\b)[a-zà-ù]+(?:a|i)\b"
    r"(?!\s+(?:ha|hanno|è|era|erano|sono|aveva|avevano|si|non)\b)"
)
_PART = r"(?:letters?|words?|vowels?|sentences?|lines?|end|start|beginning|tone|style)"
_PARTE = r"(?:letter[ae]|parol[ae]|vocal[ei]|fras[ei]|righ?[ae]|fine|inizio|tono|stile)"
_HANDED_IN = (
    r"(?!(?:send|submit|e-?mail|mail|post|return|enter|mark|check|circle|select|save|keep|explain|justify|support|await|"
    r"attach|address|fax|confirm|hand|bring|give|appreciate|respond|reply|answer|record|complete|upload|receive)\b)"
)
"""What people are asked to do with answers of their own, in forms and letters."""
_YOUR_ANSWER = rf"\byour\s+(?:\w+\s+)?{_ANSWER}\b(?!\s+(?:sheet|book|booklet|key|form|card|time|rate|letter)s?\b)"

_Rule = tuple[Sequence[str], str]
"""Words of which one must stand in the text, in small letters, and what is then looked for: most texts have none."""
_OVERRIDE: Final[Sequence[_Rule]] = (
    (
        ("ignore", "disregard", "forget", "override", "bypass", "skip"),
        (
            r"\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|"
            r"foregoing|system|initial|original|other)\b[^.\n]{0,20}\b(?:instruction|prompt|rule|direction|guideline|message|"
            r"command|context|text|question)s?\b"
        ),
    ),
    (
        ("ignore", "disregard", "forget"),
        (
            r"\b(?:ignore|disregard|forget)\s+(?:all|any|your|everything)\b[^.\n]{0,30}\b(?:instruction|prompt|rule|told|"
            r"guideline|safety|above|before)s?\b"
        ),
    ),
    (
        ("ignore", "disregard", "forget"),
        r"\b(?:ignore|disregard|forget)\s+(?:\w+\s+){0,3}(?:instruction|prompt|rule|guideline)s?\s+(?:given\s+)?(?:above|before)\b",
    ),
    (
        ("ignora", "dimentica", "trascura", "tralascia", "scavalca", "considerare", "seguire"),
        (
            r"\b(?:ignora|ignorate|dimentica|dimenticate|trascura|tralascia|scavalca|non\s+(?:considerare|seguire))\b[^.\n]"
            r"{0,40}\b(?:istruzion|regol|indicazion|comand|direttiv|prompt|messaggi|domand)\w*[^.\n]{0,20}"
        ),
    ),
    (
        ("ignora",),
        r"\bignora(?:te)?\s+tutto\s+(?:ciò|quello|quanto)\b[^.\n]{0,30}\b(?:sopra|prima|precede|ricevuto|detto)\b",
    ),
    (
        ("instruction", "prompt", "directive"),
        r"\b(?:new|updated|real|hidden|secret)\s+(?:system\s+)?(?:instructions?|prompt|directives?)\s*:",
    ),
    (
        ("istruzioni", "direttive", "ordini"),
        r"\b(?:nuov[ei]|ver[ei]|nascost[ei])\s+(?:istruzioni|direttive|ordini)\s*:",
    ),
    (
        ("task", "instruction", "objective", "directive"),
        r"\byour\s+(?:new|real|true|actual)\s+(?:task|instruction|objective|directive)s?\s+(?:is|are)\b",
    ),
    (
        ("instructions are",),
        r"\byour\s+(?:previous|prior|earlier|old)\s+instructions\s+are\s+(?:now\s+)?(?:void|cancell?ed|replaced)\b",
    ),
    (
        ("compito", "istruzion", "obiettivo", "direttiv"),
        (
            r"\b(?:il\s+tuo|la\s+tua|le\s+tue)\s+(?:nuov[oae]|ver[oae])\s+(?:compito|istruzion[ei]|obiettivo|direttiv[ae])\s+"
            r"(?:è|sono)\b"
        ),
    ),
    (
        ("now on", "point on", "point forward"),
        (
            r"\bfrom\s+(?:now|this\s+point)\s+(?:on(?:wards?)?|forward),?\s+(?:(?:you\s+(?:are|will|must)\s+(?:\w+\s+)?)?"
            r"(?:respond|reply|answer|act|behave|speak)|you\s+are\s+an?)\b"
        ),
    ),
    (
        ("ora in poi", "ora in avanti"),
        r"\bd['’]ora\s+in\s+(?:poi|avanti),?\s+(?:(?:tu\s+)?sei|(?:devi\s+)?rispond(?:i|ere)|agisci|comportati|parla)\b",
    ),
    (
        ("instead of",),
        (
            r"\binstead\s+of\s+(?:answering|responding|summari[sz]ing|translating)\b[^.\n]{0,60},\s*(?:please\s+|just\s+)?"
            rf"{_SAY}\b"
        ),
    ),
    (("invece di",), rf"\binvece\s+di\s+(?:rispondere|riassumere|tradurre)\b[^.\n]{{0,60}},\s*{_DIRE}"),
    (
        (" above",),
        r"\b(?:repeat|print|output)\s+(?:everything|all(?:\s+the\s+text)?|the\s+(?:text|words|content))\s+above\b",
    ),
    (
        (" sopra",),
        r"\b(?:ripeti|stampa|mostra)\s+(?:tutto\s+)?(?:il\s+testo\s+|le\s+parole\s+|quanto\s+)?(?:qui\s+)?sopra\b",
    ),
    (("anything now", "jailbreak mode", "dan mode"), r"\b(?:do\s+anything\s+now|jailbreak\s+mode|DAN\s+mode)\b"),
)
_ROLE: Final[Sequence[_Rule]] = (
    (("<", "[inst", "[/inst"), r"<\|[\w-]{2,30}\|>|<｜[^<>｜]{2,30}｜>|\[/?INST\]|<<SYS>>|</?(?:start|end)_of_turn>"),
    (("<",), r"</?\s*(?:system|assistant|system_prompt|instructions?)\s*>"),
    (("system", "assistant"), r"^[ \t#*>]*(?:system(?:\s+(?:prompt|message|override))?|assistant)[ \t]*\**[ \t]*:"),
    (("##",), r"^#{2,}[ \t]*(?:instruction|response)[ \t]*:"),
)
_ADDRESSED: Final[Sequence[_Rule]] = (
    (
        _MODEL_WORDS,
        (
            r"\b(?:dear|hey|hello|attention|note\s+(?:to|for)(?:\s+the)?|instructions?\s+(?:to|for)(?:\s+the)?|important\s+for)\s+"
            rf"(?:any\s+|all\s+|the\s+)?{_MODEL}s?\b"
        ),
    ),
    (("you are ",), rf"\byou\s+are\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+){{0,3}}{_MODEL}\b"),
    (_MODEL_WORDS, rf"\bas\s+an?\s+(?:AI|language\s+model|{_MODEL})\b[^.\n]{{0,20}}\byou\b"),
    (("if you are",), r"\bif\s+you\s+are\s+(?:an?\s+)?(?:AI|LLM|language\s+model|chat\s?bot)\b"),
    (
        ("caro ", "cara ", "attenzione", "nota per", "istruzioni per"),
        (
            r"\b(?:caro|cara|attenzione|nota\s+per|istruzioni\s+per)\s+(?:gli\s+|l['’]\s?|il\s+|la\s+|ogni\s+|qualsiasi\s+)?"
            rf"{_MODELLO}\b"
        ),
    ),
    (
        ("sei ", "agisci come", "comportati come"),
        (
            r"\b(?:sei|agisci\s+come|comportati\s+come)\s+(?:ora\s+|adesso\s+)?(?:un['’]?\s?|una\s+|l['’]\s?)(?:\w+\s+){0,2}"
            rf"{_MODELLO}\b"
        ),
    ),
    (("se sei",), rf"\bse\s+sei\s+(?:un['’]?\s?|una\s+)?{_MODELLO}\b"),
    (
        ("must", "should", "shall", "has to"),
        rf"\b{_SURELY_MODEL}\s+(?:must|should|shall|has\s+to)\s+(?:(?:always|only|never|now)\s+)?(?:{_SAY}|ignore)\b",
    ),
    (
        (" deve ", " devono "),
        rf"\b{_SURO_MODELLO}\s+(?:deve|devono)\s+(?:(?:sempre|solo|ora)\s+)?(?:dire|scrivere|rispondere|ripetere|ignorare)\b",
    ),
    (
        ("reading this", "processing this", "summarising this", "summarizing this"),
        rf"\b{_SURELY_MODEL}\s+(?:that\s+(?:is|are)\s+)?(?:reading|processing|summari[sz]ing)\s+this\b",
    ),
    (
        ("che legg", "che elabor", "che riassum"),
        rf"\b{_SURO_MODELLO}\s+che\s+(?:legg|elabor|riassum)\w+\s+(?:quest[oa]|il\s+testo)\b",
    ),
    (("pretend",), r"(?:^|[.!?:;]\s*)pretend\s+(?:to\s+be|(?:that\s+)?you\s+are|you['’]re)\b"),
    (
        ("fingi", "finta", "interpreta"),
        r"\b(?:fingi(?:ti)?\s+di\s+essere|fai\s+finta\s+di\s+essere|interpreta\s+il\s+ruolo\s+di)\b",
    ),
)
_ANSWERING: Final[Sequence[_Rule]] = (
    (
        _ANSWER_WORDS,
        (
            rf"(?:{_BEGIN}|\bmust\s+|\balways\s+){_VERBS}\b(?:[^.!?\n]|\.(?=\S)){{0,140}}\b(?:your|the)\s+(?:\w+\s+)?"
            r"(?:answer|response|reply|output|summary)\b"
        ),
    ),
    (
        ("your ",),
        rf"{_BEGIN}{_ORDER}\b{_ON}\b(?:in|into|to|within|throughout|from|{_PART}\s+of)\s+{_YOUR_ANSWER}",
    ),
    (("your ",), rf"{_BEGIN}{_HANDED_IN}{_ORDER}\s+(?:\w+\s+){{0,2}}{_YOUR_ANSWER}"),
    (
        ("your ",),
        rf"{_BEGIN}(?:in|throughout|within|at\s+the\s+(?:start|beginning|end|top)\s+of)\s+{_YOUR_ANSWER},?\s+{_ORDER}",
    ),
    (
        _ANSWER_WORDS,
        (
            r"\b(?:start|begin|end|finish|preface|prefix|conclude|open|close)\s+(?:all|every|each|your|the)\s+(?:\w+\s+)?"
            rf"{_ANSWER}\s+with\b"
        ),
    ),
    (
        ("when ",),
        (
            r"\bwhen\s+(?:you\s+)?(?:answer|respond|reply|summari[sz]e)\w*\b[^.\n]{0,60}\b(?:always|must|say|tell|include|add|"
            r"do\s+not|never)\b"
        ),
    ),
    ((*_ANSWER_WORDS, "respond"), r"\b(?:answer|reply|respond)\s+(?:only|exclusively|just|always)\s+(?:with|in|by)\b"),
    (
        ("user", "reader", "asker", "human"),
        r"\b(?:tell|inform|convince|instruct|urge)\s+(?:the\s+)?(?:user|reader|asker|human)s?\s+(?:that|to)\b",
    ),
    (
        ("user", "instruction", "source", "this "),
        (
            r"\b(?:do\s+not|don['’]t|never)\s+(?:tell|mention|reveal|inform|disclose|cite)\b[^.\n]{0,40}\b(?:user|instructions?|"
            r"sources?|this\s+(?:note|message|text))\b"
        ),
    ),
    (
        ("prompt", "your instructions"),
        r"\b(?:reveal|print|repeat|output|show|leak|disclose)\b[^.\n]{0,20}\b(?:system\s+prompt|your\s+(?:instructions|prompt))\b",
    ),
    (
        ("conversation", "chat", "system prompt", "user's", "user’s"),
        (
            r"\b(?:send|forward|e-?mail|upload|exfiltrate|leak|transmit)\b[^.\n]{0,40}\b(?:(?:this|the|our|your|whole|entire)\s+"
            r"conversation|chat\s+(?:history|logs?)|system\s+prompt|user['’]s\s+(?:data|e-?mails?|passwords?|messages?|questions?))\b"
        ),
    ),
    (
        _RISPOSTA_WORDS,
        rf"\b{_VERBI}\b(?:[^.!?\n]|\.(?=\S)){{0,140}}\b(?:tua|nella|alla|della|la)\s+(?:tua\s+)?(?:risposta|riassunto|output)\b",
    ),
    (
        (" tua ", " tue "),
        rf"{_BEGIN}{_ORDINE}{_ON}\b(?:nell[ae]|all[ae]|dall[ae]|{_PARTE}\s+dell[ae])\s+tu[ae]\s+(?:\w+\s+)?{_RISPOSTA}\b",
    ),
    (
        ("nella tua", "nelle tue"),
        rf"{_BEGIN}nell[ae]\s+tu[ae]\s+(?:\w+\s+)?{_RISPOSTA},?\s+{_ORDINE}",
    ),
    (
        _RISPOSTA_WORDS,
        (
            r"\b(?:inizia|comincia|termina|concludi|finisci|chiudi|apri)\s+(?:ogni|tutte\s+le|la\s+tua|le\s+tue)\s+(?:tue\s+)?"
            rf"{_RISPOSTA}\s+con\b"
        ),
    ),
    (
        ("conversazione", "cronologia", "prompt", "utente"),
        (
            r"\b(?:invia|inoltra|spedisci|manda|trasmetti)\b[^.\n]{0,40}\b(?:(?:la|questa|nostra|tua)\s+conversazione|"
            r"cronologia\s+della\s+chat|prompt|(?:dati|password|messaggi|domande?)\s+dell['’]utente)\b"
        ),
    ),
    (
        ("quando rispond",),
        r"\bquando\s+rispond(?:i|ete)\b[^.\n]{0,60}\b(?:sempre|devi|dì|di['’]|scrivi|aggiungi|non)\b",
    ),
    (("rispondi", "rispondete"), r"\brispond(?:i|ete)\s+(?:sempre|solo|soltanto|esclusivamente|unicamente)\b"),
    (
        ("utent", "lettor"),
        r"\b(?:dì|di['’]|dici|comunica|convinci|invita)\s+(?:all['’]\s?|agli\s+|l['’]\s?|gli\s+)(?:utent[ei]|lettor[ei])\b",
    ),
    (
        ("prompt", "istruzioni"),
        r"\b(?:rivela|mostra|ripeti|stampa)\b[^.\n]{0,20}\b(?:prompt|tue\s+istruzioni|istruzioni\s+di\s+sistema)\b",
    ),
    (
        ("non ",),
        r"\bnon\s+(?:dire|rivelare|menzionare|citare)\b[^.\n]{0,40}\b(?:utente|istruzioni|fonti|questa\s+nota)\b",
    ),
)
_WRITTEN = r"(?:write|draft|compose|provide|create|generate|craft|tell|give)"
_CODE = r"(?:Python|JavaScript|Java|PHP|SQL|C\+\+|Ruby|Rust)"
_TASK: Final[Sequence[_Rule]] = (
    (
        ("poem", "haiku", "limerick", "sonnet", "joke", "essay", "story", "tale", "blog post", "tweet", "song"),
        (
            rf"{_BEGIN}{_WRITTEN}\s+(?:me\s+|us\s+)?(?:an?|another|some)\s+(?:[\w-]+\s+){{0,2}}(?:poem|haiku|limerick|sonnet|joke|"
            r"essay|(?:short|bedtime|love|horror)\s+story|fairy\s+tale|blog\s+post|tweet|song)s?\b"
        ),
    ),
    (
        ("translate",),
        r"(?:^|[.!?:;|\"]\s*)translate\s+(?:this|the\s+following|['\"“‘])[^.\n]{0,160}?\b(?:to|into|in)\s+(?-i:[A-Z])[a-z]+",
    ),
    (
        ("function", "code", "script", "program", "snippet", "quer"),
        (
            rf"\b(?:show|give|write|provide)\s+(?:me\s+)?(?:an?|the|some)\s+(?:\w+\s+){{0,2}}{_CODE}\s+(?:function|code|script|"
            r"program|snippet|quer)"
        ),
    ),
    (
        ("explain", "describe"),
        (
            r"(?:^|[.!?:;|\"]\s*)(?:explain|describe)\b[^.\n]{3,100}\b(?:in\s+simple\s+terms|as\s+if\s+I\s+(?:am|was|were)|"
            r"like\s+I['’]?\s?a?m\s+(?:five|5))\b"
        ),
    ),
    (
        (
            "poesia",
            "haiku",
            "sonetto",
            "barzelletta",
            "filastrocca",
            "canzone",
            "fiaba",
            "favola",
            "racconto",
            "saggio",
        ),
        (
            rf"{_BEGIN}(?:scrivi(?:mi)?|componi|inventa|crea|genera|racconta(?:mi)?)\s+(?:una?\s+|un['’]\s?)(?:\w+\s+){{0,2}}"
            r"(?:poesia|haiku|sonetto|barzelletta|filastrocca|canzone|fiaba|favola|racconto|saggio)\b"
        ),
    ),
    (
        ("traduci",),
        (
            r"(?:^|[.!?:;|\"]\s*)traduci\b[^.\n]{0,160}?\bin\s+(?:inglese|francese|tedesco|spagnolo|cinese|russo|giapponese|"
            r"italiano)\b"
        ),
    ),
    (
        ("funzione", "codice", "script", "programma", "query"),
        (
            r"\b(?:scrivi|mostra|dai|fornisci)(?:mi)?\s+(?:una?|il|la)\s+(?:\w+\s+){0,2}(?:funzione|codice|script|programma|query)\s+"
            rf"(?:in\s+)?{_CODE}"
        ),
    ),
)
_HIDDEN: Final[Sequence[_Rule]] = ((("[not visible",), r"\[Not visible: [^\]]*[^\W\d_]"),)
RULES: Final[Mapping[str, Sequence[_Rule]]] = {
    "override": _OVERRIDE,
    "role": _ROLE,
    "addressed": _ADDRESSED,
    "answering": _ANSWERING,
    "task": _TASK,
    "hidden": _HIDDEN,
}
"""By sign, in the order in which they are told."""
