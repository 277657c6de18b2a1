"""What turns a sentence round: negations, exceptions, limits, and words that stand against each other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from fonte.text.claims.wording import key
from fonte.text.terms import folded
from fonte.types import Language

_WORD = re.compile(r"[^\W\d_]+(?:['’]t\b)?")

_NOT: Final[Mapping[Language, frozenset[str]]] = {
    "en": frozenset("not never no nobody none nothing neither nor cannot nowhere without except unless hardly".split()),
    "it": frozenset(
        "non mai nessun nessuno nessuna niente nulla ne neppure nemmeno neanche senza tranne salvo eccetto "
        "fuorche no".split()
    ),
}
_EXCEPT: Final = frozenset("except unless tranne salvo eccetto fuorche che parte apart aside than but".split())
_EMPTY_NOT: Final = frozenset({("meno", "che"), ("a", "quando"), ("al", "quando")})
"""What an Italian ``non`` may follow without denying: a meno che non, fino a quando non."""
_ALL: Final = frozenset("one nobody none all everyone everybody everything anyone anybody anything".split())
DENYING: Final = frozenset(
    "forbidden prohibited banned excluded impossible unable refused rejected vietato vietata vietati vietate proibito "
    "proibita escluso esclusa esclusi impossibile".split()
)
"""Words that deny as surely as a negation does: behind one, the two are none."""
EXCEPTING: Final = frozenset("exception exceptions excepted eccezione eccezioni".split())
UNTIL: Final = frozenset("until till finche fintanto".split())
"""Not until is not without."""
ONLY: Final = frozenset("only just merely solely solo soltanto solamente esclusivamente purche".split())
_CONCORD: Final = frozenset("mai nessun nessuno nessuna niente nulla ne neppure nemmeno neanche".split())
"""Words that repeat an Italian ``non`` and add no negation of their own."""
_CONCORD_GAP: Final = 2
"""Words between senza and what goes on with it."""
_PHRASES: Final = r"""
none: not only|non solo|non soltanto|non appena|whether or not|finche non|no matter|not least|not just|nonetheless
none: nient altro che|nessun altr[oa] che|no one other than|no other than|(?:right|straight) away
none: (?:miles?|km|kilomet(?:re|er)s?|met(?:re|er)s?|minutes?|hours?|days?|weeks?|months?|years?) away
none: nothing but|in piu|per lo piu|per di piu|piu o meno|more or less
most: (?:no|not) (?:more|later|longer|higher|greater|further) than|not (?:to )?exceed\w*|non oltre|non piu di
most: (?:can ?not|must not|may not|does not|do not|never) exceeds?|never (?:above|more than|over)|mai oltre|mai piu di
most: non (?:puo|deve|possono|devono) (?:\w+ )?superare|non superior[ei]|non piu tardi di|al massimo|fino a|massim[oa]
most: non (?:si )?(?:deve |possono |devono |puo )?(?:mai )?(?:super|raggiung|ecced|oltrepass)\w+(?: mai)?
most: (?:must|may|can|does|do|should) ?not (?:reach|go (?:over|above))
most: (?:not|never) (?:be |have )?(?:over|above|(?:longer|more|higher|later) than)
most: non (?:bisogna )?(?:avere |essere )?(?:sopra|oltre|piu di)
least: (?:not|never) (?:be |have )?(?:under|below|(?:less|fewer|younger) than)
least: non (?:bisogna )?(?:avere |essere )?(?:sotto|meno di)
upto: or (?:less|fewer|under|below|younger|earlier)|o meno|in giu
from: in su|in poi|o piu|e oltre|(?:or|and) (?:more|older|over|above|longer|later|upwards)|upwards
soft: out of (?:use|order|service|bounds|reach|stock|action|place)|off limits|in peace|too \w+ (?:to|for)
soft: turn(?:ed|s)? away|(?:keep|keeps|kept|stay|stays|stayed|shut|steer) (?:\w+ )?(?:out|clear)
soft: left (?:out|behind|over)
soft: fuori (?:uso|servizio|luogo|portata|orario|discussione)|in pace|(?:fare|fa|fanno|facendo) a meno
soft: a digiuno|troppo \w+ (?:per|perche)|al posto di|alla larga|in aggiunta|on top
most: at most|up to|maximum(?: of)?|max|upper limit|non andare oltre
least: (?:no|not) (?:less|fewer|earlier|lower|sooner) than|never (?:below|less than)|at least|minimum(?: of)?|almeno
least: (?:must|may|can) ?not (?:fall|drop|go) below|non (?:deve|puo|devono) (?:mai )?scendere sotto|mai meno di
least: non meno di|non prima di|minim[oa]|lower limit|non inferiore a
"""
"""What is written like a negation and is none, or sets a limit; in folded words."""
_COMPILED: Final = tuple(
    (re.compile(rf"\b(?:{pattern})\b"), kind)
    for kind, pattern in (line.split(": ", 1) for line in _PHRASES.strip().splitlines())
)

SOFT: Final = frozenset(
    """
    abandoned abolish abolished abolita abolito absent altrimenti annullata annullati annullato anonima
    anonimamente anonimi anonimo anonymous anonymously anziche apart astenersi autonomo avanza avanzano avoids
    away banned barred bloccata bloccati bloccato blocked cancelled cease ceased ceases cessa cessata cessato
    confidential decline declined declines denied denies deny dimentica dimenticare dimenticato diniego disabled
    disallowed disattivata disattivati disattivato discontinued discouraged divieto doubt dropped dubbio eccezione
    eccezioni empty ended escape escapes esclude escludere esclusa escluse esclusi esclusione esclusivamente
    escluso esente esenti evita evitano evitare exception exceptions exclude excluded excludes excluding exempt
    exempted expired facoltativa facoltativo fail failed fails forbidden forget forgets forgotten free fuori
    gratis gratuita gratuitamente gratuiti gratuito ignora ignorare ignorato ignore ignored ignores illegal
    illimitato impedire impedisce impossibile impossible indifferente indifferenti ineligible instead insufficient
    insufficiente insufficienti inutile inutilmente invalid invalido invece irrelevant irrilevante irrilevanti
    just lack lacking lacks leftover little locked lost manca mancano merely missing needless nega negativa
    negativo negato nil nullo off omessa omesso omit omitted only optional persa perse persi perso poca poco
    pointless prevent prevented prevents priva privi privo prohibited proibita proibito purche raramente rarely
    rather refrain refrains refusal refuse refused refuses reject rejected rejects remain remained remains resta
    restano revocata revocato revoked rifiuta rifiutato rifiuti rifiuto rimane rimanenti rimangono riservato
    ritirata ritirato ruled saltare sbagliata sbagliato scaduta scaduto sconsigliata sconsigliato scrapped secret
    segreto seldom skip skipped smesso smette solamente solely solo soltanto sospesa sospeso spenta spento stay
    stayed stays stop stopped stops superflua superfluo suspended unable unaccompanied unavailable unaware
    undeclared unfit unlabeled unlabelled unlawful unlike unlimited unlocked unnecessary unpaid unsafe unsigned
    unsupervised unused useless vieta vietata vietate vietati vietato vieti void vuota vuoto waived withdrawn
    withheld withhold wrong zero
    """.split()
)
"""Words that may say what a negation says; they need no counterpart and may be one."""
_DENYING_VERBS: Final[Mapping[Language, str]] = {
    "en": "abandon abolish abstain avoid ban block cancel cease deactivate deny disable disallow discard discontinue "
    "disqualify disregard exclude expire fail forbid forget ignore lack lapse lose neglect omit outlaw overlook "
    "prevent prohibit refrain refuse reject revoke skip stop suspend waive withdraw withhold",
    "it": "abolire annullare astenere bloccare cessare decadere dimenticare disattivare dispensare escludere esentare "
    "esonerare ignorare impedire interdire mancare negare omettere precludere proibire respingere revocare rifiutare "
    "rinunciare scadere scartare smettere sospendere tralasciare trascurare vietare evitare ritirare",
}
"""The same in whatever form they stand."""

FAINT: Final = (
    ONLY
    | UNTIL
    | EXCEPTING
    | frozenset(
        """
        alone basta bastano chiusa chiuse chiusi chiuso clear closed difficile difficult digiuno eliminate eliminated
        elimina eliminare enough former formerly gone interrotto interrompere lontana lontane lontani lontano miss
        missed misses perdere personal quit quits rara rare raramente raro remove removed removes rimosso rimuovere
        shut sufficient sufficiente sufficienti terminare togliere tolto vain invano
        altrimenti anziche apart confermata confermate confermati confermato confirmed conserva conservano continua
        continuano continue continued continues esterna esterne esterni esterno external instead invariata
        invariato invece little maintain maintained maintains mantengono mantenuto mantiene outside poca poco stay
        stayed stays unchanged unlike wrong
        """.split()
    )
)
"""Words that limit, or say that something stays as it is, rather than deny: they may excuse a negation (mantiene: non
interrompe), and nobody misses them."""


def is_faint(cue: Cue | Pole) -> bool:
    """Whether a word or a turn of several words only may deny, and nobody misses it."""
    return " " in cue.text or folded(cue.text) in FAINT


_OPPOSITES: Final = """
obligation 0 must shall required requires require obliged mandatory compulsory obligatory need needs needed
obligation 0 necessary deve devono dovete devi dovra dovranno obbligatorio obbligatoria obbligatori obbligatorie
obligation 0 obbligo obbligato occorre bisogna necessario necessaria necessari
obligation 1 may can optional voluntary could might puo possono potete puoi potra facoltativo facoltativa
obligation 1 facoltativi volontario volontaria
permission 0 allowed permitted allow allows permits permit authorised authorized consentito consentita consentiti
permission 0 consente permesso permessa ammesso ammessa ammessi autorizzato autorizzata
permission 1 forbidden prohibited banned forbids prohibits disallowed vietato vietata vietati vietate proibito
permission 1 proibita proibiti vieta
order 0 before prior prima precedente precedenti
order 1 after following afterwards dopo successivo successiva successivi
side 0 above over more exceeding oltre sopra superiore superiori piu maggiore maggiori higher greater
side 0 longer exceed exceeds exceeded superare supera superano superi superato superata
side 1 below under less fewer sotto inferiore inferiori meno minore minori lower shorter
limit 0 maximum max massimo massima massimi massime
limit 1 minimum min minimo minima minimi minime
change 0 increase increases increased rise rises rose risen grow grows grew raise raised raises aumenta
change 0 aumentano aumento aumentato aumentata cresce crescita crescono sale salire
change 1 decrease decreases decreased reduce reduces reduced fall falls fell drop drops dropped cut decline
change 1 declines declined diminuisce diminuiscono diminuzione diminuito riduce riducono ridotto ridotta
change 1 riduzione cala calo scende scendere
edge 0 start starts started begin begins began beginning opens open inizio inizia iniziano comincia
edge 0 cominciano apre aprono
edge 1 end ends ended finish finishes close closes closed fine finisce finiscono termina terminano chiude
edge 1 chiudono chiuso chiusa
inside 0 include includes included including inside within incluso inclusa inclusi incluse compreso compresa
inside 0 compresi comprende dentro
inside 1 exclude excludes excluded excluding outside except escluso esclusa esclusi escluse fuori esclude
all 0 all every each always tutti tutte tutto tutta ogni sempre ciascuno ciascuna
all 1 some sometimes few alcuni alcune talvolta qualche pochi poche
first 0 first earliest primo prima
first 1 last latest ultimo ultima
pay 0 pay retribuzione paid pagato pagata pagati pagate retribuito retribuita retribuiti
pay 1 unpaid gratuito gratuita gratuiti
accept 0 accept accepts accepted approve approves approved accettato accettata accettati accettano approva
accept 0 approvato approvata accetta
accept 1 reject rejects rejected refuse refuses refused rifiuta rifiutato rifiutata respinto respinta
level 0 high alto alta alti alte
level 1 low basso bassa bassi basse
measure 0 hot warm caldo calda
measure 1 cold freddo fredda
term 0 permanent indeterminato
term 1 temporary determinato temporaneo
days 0 working business lavorativi lavorativo feriali
days 1 calendar calendario solari
state 0 open opens opened apre aprono aperto aperta aperti aperte
state 1 closed shut close closes chiude chiudono chiuso chiusa chiusi chiuse
bond 0 tied bound fastened leashed leash legato legata legati legate guinzaglio
bond 1 loose untied unleashed sciolto sciolta sciolti sciolte
noise 0 noise noisy loud rumore rumori rumoroso rumorosi
noise 1 silence silent quiet silenzio silenzioso silenziosi
filled 0 full pieno piena pieni piene
filled 1 empty vuoto vuota vuoti vuote
lit 0 acceso accesa accesi accese
lit 1 spento spenta spenti spente spegnere
wet 0 wet bagnato bagnata bagnati umido umida
wet 1 dry asciutto asciutta asciutti secco secca
quiet-stay 0 stay stays stayed staying remain remains remaining restare resta restano rimanere rimane rimangono
quiet-stay 1 leave leaves leaving left exit exits uscire esce escono lasciare lascia lasciano allontanarsi
quiet-extra 0 included includes include inclusive incluso inclusa inclusi incluse compreso compresa compresi comprese
quiet-extra 0 comprende comprendono
quiet-extra 1 extra additional separately separate supplement surcharge supplemento aggiunta separatamente top
quiet-near 0 near nearby next touch touching touches vicino vicina vicini vicine accanto contatto tocca toccare toccano
quiet-near 1 far away distance distant lontano lontana lontani lontane distante distanza
quiet-company 0 alone unaccompanied unattended
quiet-company 1 accompanied accompany together accompagnato accompagnata accompagnati accompagnate insieme compagnia
quiet-age 0 minors minor children child minorenne minorenni minori bambini ragazzi
quiet-age 1 adult adults adulto adulti maggiorenne maggiorenni
quiet-safe 0 safe safely sicuro sicura sicuri
quiet-safe 1 dangerous danger unsafe pericoloso pericolosa pericolosi pericolo
quiet-hand 0 keep keeps kept hold holds retain retains tiene tengono tenere conserva conservano conservare mantenere
quiet-hand 1 lose loses lost discard throw thrown perde perdono perdere butta buttano gettare scartare
quiet-open 0 covered sealed wrapped coperto coperta coperti chiuso sigillato sigillata
quiet-open 1 uncovered open bare exposed scoperto scoperta scoperti aperto aperta aperti
"""


def _poles() -> Mapping[str, Sequence[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for line in _OPPOSITES.strip().splitlines():
        what, side, *words = line.split()
        for word in words:
            found.setdefault(word, []).append((what, int(side)))
    return found


POLES: Final = _poles()
"""Every word that has an opposite: of what, and which side of it."""
_LACKING: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(r"non|un(?!der|i|til|less|cle|anim)\w{4,}|(?!regard|un|none|neverthe)\w{3,}less"),
    "it": re.compile(r"(?!indispens)i[nmrl]\w{2,}bil[ei]"),
}
_LATE: Final = frozenset("later earlier sooner tardi prima latest".split())
_BEFORE: Final = frozenset("before prior prima ahead advance anticipo".split())
_BACK: Final = 5
"""Words behind a bound among which what it is counted back from is looked for."""
BOUND_WORDS: Final = {"most": ("limit", 0), "least": ("limit", 1), "upto": ("limit", 0), "from": ("limit", 1)}
_ONE_SIDED: Final = frozenset({"upto", "from"})
"""Bounds behind their number, which may also tell whom the contrary holds for: under four free, the others not."""
QUIET: Final = "quiet"
"""What opposites begin with that deny one another without speaking of the same: they excuse and never accuse."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that negates or excepts, and from which character on."""

    start: int
    end: int
    text: str
    exception: bool


@dataclass(frozen=True, slots=True)
class Pole:
    """One side of an opposition, as written."""

    start: int
    end: int
    text: str
    what: str
    side: int


@dataclass(frozen=True, slots=True)
class Turns:
    """What turns a text round."""

    cues: tuple[Cue, ...]
    poles: tuple[Pole, ...]
    soft: tuple[Cue, ...]


@cache
def _stems(listed: str, language: Language) -> frozenset[str]:
    return frozenset(key(word, language) for word in listed.split())


def turns(text: str, language: Language) -> Turns:
    """Negations, exceptions, opposites of a text; none in another language than English or Italian."""
    if language not in _NOT:
        return Turns((), (), ())
    words = [(match.start(), match.end(), _form(match.group())) for match in _WORD.finditer(text)]
    line = " ".join(form for _, _, form in words)
    starts, at = {}, 0
    for number, (_, _, form) in enumerate(words):
        starts[at] = number
        at += len(form) + 1
    poles: list[Pole] = []
    denied: list[Cue] = []
    taken: set[int] = set()
    for pattern, kind in _COMPILED:
        for match in pattern.finditer(line):
            first = starts.get(match.start())
            span = range(first, first + len(match.group().split())) if first is not None else range(0)
            if not span or taken & set(span):
                continue
            taken |= set(span)
            begin, end = words[span[0]][0], words[span[-1]][1]
            if kind == "soft":
                denied.append(Cue(begin, end, text[begin:end], exception=False))
            if kind in BOUND_WORDS and not _backwards(match.group(), [form for *_, form in words[span[-1] + 1 :]]):
                what, side = BOUND_WORDS[kind]
                poles.append(Pole(begin, end, text[begin:end], what, side))
                if kind not in _ONE_SIDED:
                    poles.append(Pole(begin, end, text[begin:end], "side", 1 - side))  # at most is not above
    return _turns(text, words, taken, poles, denied, language)


def _denies(form: str, language: Language) -> bool:
    """Whether a word may deny by itself, also by its first syllable or its last: unstaffed, harmless, illeggibile."""
    if form in SOFT or key(form, language) in _stems(_DENYING_VERBS.get(language, ""), language):
        return True
    return _LACKING[language].fullmatch(form) is not None


def _backwards(bound: str, after: Sequence[str]) -> bool:
    """Whether a bound of time is counted back: no later than an hour before is at least an hour before."""
    late = not _LATE.isdisjoint(bound.split())
    return late and not _BEFORE.isdisjoint(after[:_BACK])


def _turns(
    text: str,
    words: Sequence[tuple[int, int, str]],
    taken: set[int],
    poles: list[Pole],
    soft: list[Cue],
    language: Language,
) -> Turns:
    cues: list[Cue] = []
    for number, (start, end, form) in enumerate(words):
        if number in taken:
            continue
        poles += [Pole(start, end, text[start:end], what, side) for what, side in POLES.get(form, ())]
        if form in FAINT or _denies(form, language):
            soft.append(Cue(start, end, text[start:end], exception=False))
        if not _negates(text, words, number, language):
            continue
        after = words[number + 1][2] if number + 1 < len(words) else ""
        if cues and _repeats(form, after, cues[-1], text[cues[-1].end : start], language):
            continue
        cues.append(Cue(start, end, text[start:end], form in _EXCEPT))
    return Turns(tuple(cues), tuple(poles), tuple(soft))


def _negates(text: str, words: Sequence[tuple[int, int, str]], number: int, language: Language) -> bool:
    start, end, form = words[number]
    before = [word for _, _, word in words[max(0, number - 6) : number]]
    after = words[number + 1][2] if number + 1 < len(words) else ""
    if form == "no":  # not no. 5, nor what answers a question; "the others no" denies
        numbered = re.match(r"\.?\s*\d", text[end:]) is not None
        return not numbered and (number > 1 or not re.match(r"\s*[.,;:]", text[end:]))
    if form == "ne":  # ne is a pronoun, né a negation
        return text[start:end].lower() in {"né", "ne'"} or "non" in before[-3:]
    opened = before[len(before) - before[::-1].index("non") :] if "non" in before else before
    if form == "non" and ("finche" in opened or not _EMPTY_NOT.isdisjoint(pairwise(opened))):
        return False  # finché non finisce: until it ends; a meno che non finisca: unless it ends
    beside = number > 0 and not text[words[number - 1][1] : start].strip()
    return form in _NOT[language] or _excepts(before, form, after) or (form == "but" and beside and _all(before))


def _excepts(before: Sequence[str], form: str, after: str) -> bool:
    """Exceptions of several words: a parte, a meno che, apart from, other than."""
    last = before[-1] if before else ""
    behind = (last, form) in {("a", "parte"), ("other", "than"), ("meno", "che")}
    return behind or (form in {"apart", "aside"} and after == "from")


def _all(before: Sequence[str]) -> bool:
    """Whether what stands before ``but`` is all or none: nobody but, everyone but."""
    return bool(before) and before[-1] in _ALL


def _repeats(form: str, after: str, before: Cue, between: str, language: Language) -> bool:
    """Whether a negative word only goes on with the one before it: non ... nessuno, nobody ... nor."""
    if re.search(r"[.;:!?]", between):
        return False
    if form in {"ne", "nor", "neppure", "nemmeno", "neanche"} or (form, after) == ("not", "even"):
        return True
    if before.text.lower() == "senza" and len(between.split()) > _CONCORD_GAP:
        return False  # without a deposit no place
    follows = language == "it" and form in _CONCORD and before.text.lower() in {"non", "né", "senza"}
    return follows and not re.search(r",|\be\b", between)


def _form(word: str) -> str:
    form = folded(word).replace("’", "'")
    return {"can't": "cannot", "won't": "not"}.get(form, "not" if form.endswith("n't") else form)
