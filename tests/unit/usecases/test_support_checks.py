"""What the checks of a sentence find, against a page in English and one in Italian."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fonte.errors import ModelNotInstalled, ModelUnavailable
from fonte.protocols import Entailer
from fonte.support import DeferredEntailer, SupportChecker
from fonte.types import Passage, Support, TokenVectors
from usecase_making import document, passage

TRAVEL = document(
    "Submit your claim within 30 days of your return. Claims are paid within ten working days of approval. "
    "Journeys above €1,200 also need the approval of the site director. A lost card is blocked in the app at once and "
    "reported to Finance on the same day. Parking and tolls are paid against receipts; fines are not paid at all. "
    "In Italy we pay 47 cents a kilometre. In the United Kingdom we pay 45 pence a mile. The portal fills in form "
    "TR-12 for you; form TR-09 is no longer accepted. Claims that arrive later are not paid, unless you were ill. "
    "You may ask for a sabbatical of up to three months. The office opens on Monday 4 May 2026 at 08:30.",
    "travel.md",
)
LAB = document(
    "Nessun flacone resta senza etichetta. I visitatori entrano accompagnati e non toccano nulla. L'allarme scatta "
    "quando l'ossigeno scende sotto il 19,5 per cento. Le domande si presentano entro il 31 marzo con il modulo "
    "SOC-01-D. Le ferie non si pagano, salvo alla cessazione del rapporto di lavoro. La quota minima è di 2.500 euro.",
    "lab.md",
    language="it",
)


def judged(said: str, language: str = "en") -> tuple[Support, dict[str, str | float]]:
    source = TRAVEL if language == "en" else LAB
    return SupportChecker().check(said, [passage(source)], language=language)


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("You must submit your claim within thirty days of returning.", "en"),
        ("Within 10 working days of approval, claims are paid.", "en"),
        ("Fines are never paid, while parking and tolls are paid with receipts.", "en"),
        ("A sabbatical of at most three months may be requested, if you ask for it.", "en"),
        ("The office opens at 8:30 a.m. on 4/5/2026.", "en"),
        ("L'allarme scatta se l'ossigeno scende sotto il 19,5%.", "it"),
        ("La quota minima è di € 2500.", "it"),
        ("Le ferie non vengono pagate, tranne alla cessazione del rapporto di lavoro.", "it"),
    ],
)
def test_what_says_the_same_in_other_words_is_supported(said: str, language: str) -> None:
    verdict, checks = judged(said, language)
    assert verdict == "supported", checks


@pytest.mark.parametrize(
    ("said", "language", "check", "told"),
    [
        ("Submit your claim within 40 days of your return.", "en", "numbers", "missing: 40 days"),
        ("Submit your claim within 30 weeks of your return.", "en", "units", "30 weeks, source: 30 days"),
        ("Journeys above £1,200 also need the approval of the site director.", "en", "currency", "£1,200"),
        ("The office opens on Monday 4 June 2026 at 08:30.", "en", "dates", "missing: 4 June 2026"),
        ("The office opens on Monday 4 May 2026 at 09:30.", "en", "dates", "missing: 09:30"),
        ("A lost card is not blocked in the app at once.", "en", "negation", "added"),
        ("Fines are paid.", "en", "negation", "removed"),
        ("Claims that arrive later are not paid, if you were ill.", "en", "negation", "removed: unless"),
        ("You must ask for a sabbatical of up to three months.", "en", "opposites", "must, source: may"),
        ("You may ask for a sabbatical of at least three months.", "en", "opposites", "at least"),
        ("The portal fills in form TR-21 for you.", "en", "codes", "missing: TR-21"),
        ("A lost card is reported to Marketing on the same day.", "en", "names", "missing: Marketing"),
        ("In Italy we pay 47 pence a kilometre.", "en", "currency", "47 pence, source: 47 cents"),
        ("I visitatori entrano accompagnati e toccano tutto.", "it", "negation", "removed"),
        ("Le domande si presentano entro il 30 marzo.", "it", "dates", "missing: 30 marzo"),
        ("L'allarme scatta quando l'ossigeno scende sopra il 19,5 per cento.", "it", "opposites", "sopra"),
    ],
)
def test_what_was_changed_is_named(said: str, language: str, check: str, told: str) -> None:
    verdict, checks = judged(said, language)
    assert verdict == "unsupported", checks
    assert told in str(checks[check])


@pytest.mark.parametrize(
    ("said", "check"),
    [
        ("Submit your claim within ten working days of your return.", "numbers"),
        ("In Italy we pay 45 pence a mile.", "names"),
        ("Form TR-12 is no longer accepted; it is filled in by the portal.", "codes"),
    ],
)
def test_case_1_a_fact_of_another_sentence_is_told(said: str, check: str) -> None:
    verdict, checks = judged(said)
    if check == "codes":
        # Both codes stand in one sentence: nothing here sees that they changed places.
        assert verdict == "supported"
        return
    assert verdict == "partial", checks
    assert "of another sentence" in str(checks[check])


def test_two_numbers_that_changed_places_in_one_sentence_are_told() -> None:
    source = document(
        "Staff get 27 working days of leave a year, in addition to the 8 days of bank holidays in England."
    )
    swapped = "Staff get 8 working days of leave a year, in addition to the 27 days of bank holidays in England."
    verdict, checks = SupportChecker().check(swapped, [passage(source)], language="en")
    assert verdict == "partial"
    assert "beside other words" in str(checks["numbers"])


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("La richiesta va presentata entro 30 giorni.", ("supported", "not_checked")),
        ("In Italia si pagano 47 centesimi al chilometro.", ("supported", "not_checked")),
        ("La richiesta va presentata entro 40 giorni.", ("unsupported",)),
        ("In Italia si pagano 47 sterline al chilometro.", ("unsupported",)),
        ("Il modulo TR-99 è compilato dal portale.", ("unsupported",)),
    ],
)
def test_facts_are_compared_across_languages(said: str, verdict: tuple[Support, ...]) -> None:
    found, checks = SupportChecker().check(said, [passage(TRAVEL)], language="it")
    assert found in verdict, checks


class Seeing:
    """Counts what it is asked to show."""

    def __init__(self) -> None:
        self.asked = 0

    def passages_seen(self, passages: Sequence[Passage]) -> list[TokenVectors] | None:
        self.asked += 1
        return None

    def sentence_seen(self, text: str) -> TokenVectors | None:
        self.asked += 1
        return None


class Judging:
    """An entailment model that always says the same."""

    id = "same"

    def __init__(self, value: float) -> None:
        self.value = value
        self.asked: list[tuple[str, str]] = []

    def score(self, premise: str, hypothesis: str) -> float:
        self.asked.append((premise, hypothesis))
        return self.value


def test_a_sentence_word_for_word_asks_no_model() -> None:
    sees, judge = Seeing(), Judging(0.0)
    checker = SupportChecker(sees, judge)
    for verbatim, said in ((True, "anything"), (False, "Claims are paid within ten working days of approval")):
        assert checker.check(said, [passage(TRAVEL)], language="en", verbatim=verbatim)[0] == "supported"
    assert (sees.asked, judge.asked) == (0, [])


@pytest.mark.parametrize(("value", "verdict"), [(0.9, "supported"), (0.3, "partial"), (0.02, "unsupported")])
def test_an_entailment_model_confirms_or_lowers(value: float, verdict: Support) -> None:
    judge = Judging(value)
    said = "You must submit your claim within thirty days of returning."
    found, checks = SupportChecker(None, judge).check(said, [passage(TRAVEL)], language="en")
    assert (found, checks["entailment"]) == (verdict, value)
    assert judge.asked == [("Submit your claim within 30 days of your return.", said)]


def test_an_entailment_model_excuses_no_missing_fact() -> None:
    found, _ = SupportChecker(None, Judging(1.0)).check(
        "Submit your claim within 40 days of your return.", [passage(TRAVEL)], language="en"
    )
    assert found == "unsupported"


RULES = document(
    "Passengers who do not work for us are not insured. Unused leave is not paid, except when somebody leaves. Paid "
    "work elsewhere needs written permission. The round does not open without the mileage. Do not enter a tank. The "
    "van goes nowhere if the brakes are not safe. Switch the fridge on at least 45 minutes before loading.",
    "rules.md",
)
REGOLE = document(
    "Il sabato l'accettazione non apre. Non contano il livello e la cittadinanza. I campioni non si ricevono dopo le "
    "15, salvo accordo. Finché l'abilitazione non compare, il sistema non accetta la firma. Il reparto tiene al "
    "massimo 10 litri di solventi. Il badge apre gli uffici ma non le porte. Il pranzo è alle 12.30.",
    "regole.md",
    language="it",
)


@pytest.mark.parametrize(
    "said",
    [
        "Unused leave is only paid when somebody leaves.",
        "You can't take paid work elsewhere without written permission.",
        "The round won't open until the mileage is entered.",
        "Tanks are off limits: do not enter one.",
        "If the brakes are unsafe the van goes nowhere.",
        "Switch the fridge on no later than 45 minutes before loading.",
        "Il sabato l'accettazione è chiusa.",
        "Il livello e la cittadinanza sono irrilevanti.",
        "Dopo le 15 non si ricevono campioni, a meno che non ci sia un accordo.",
        "Il sistema rifiuta la firma fino a quando l'abilitazione non compare.",
        "Il reparto non può tenere più di 10 litri di solventi.",
        "Il pranzo è a mezzogiorno e mezzo.",
    ],
)
def test_a_denial_in_other_words_is_no_change(said: str) -> None:
    source = REGOLE if "il " in said.lower() or "dopo" in said.lower() else RULES
    verdict, checks = SupportChecker().check(said, [passage(source)], language=source.language)
    assert verdict in {"supported", "not_checked"}, checks


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Passengers who do not work for us are insured.", "removed: not insured"),
        ("Passengers who work for us are not insured.", "removed: not work for us"),
        ("Enter a tank.", "removed: not enter a tank"),
        ("Unused leave is paid, except when somebody leaves.", "removed: not paid, except when"),
        ("You can take paid work elsewhere, and no permission is needed.", "added: no permission is needed"),
        ("Il sabato l'accettazione non è chiusa.", "added: non è chiusa"),
        ("Il livello e la cittadinanza non sono irrilevanti.", "removed: Non contano il livello"),
        ("Con il badge si aprono gli uffici e le porte.", "removed: non le porte"),
    ],
)
def test_a_denial_that_is_lost_or_added_is_told(said: str, told: str) -> None:
    source = REGOLE if "il " in said.lower() else RULES
    verdict, checks = SupportChecker().check(said, [passage(source)], language=source.language)
    assert verdict == "unsupported"
    assert told in str(checks["negation"])


@pytest.mark.parametrize(
    "said",
    [
        "Passengers who do not work for us travel uninsured.",
        "If the brakes are unsafe the van goes nowhere.",
        "Tanks are off limits.",
        "Il sabato l'accettazione è chiusa.",
        "Il livello e la cittadinanza sono irrilevanti.",
    ],
)
def test_a_denial_on_one_side_only_is_neither_accused_nor_called_supported(said: str) -> None:
    source = REGOLE if said.startswith("Il ") else RULES
    verdict, checks = SupportChecker().check(said, [passage(source)], language=source.language)
    assert verdict == "not_checked"
    assert str(checks["negation"]).startswith("not sure: ")


def test_two_denials_that_undo_each_other_are_not_called_supported() -> None:
    verdict, checks = judged("Ogni flacone deve avere un'etichetta.", "it")
    assert verdict == "not_checked", checks


def test_an_entailment_model_is_sure_of_a_denial_in_other_words() -> None:
    said = "Il livello e la cittadinanza sono irrilevanti."
    found, checks = SupportChecker(None, Judging(0.9)).check(said, [passage(REGOLE)], language="it")
    assert found == "supported", checks


DENYING = document(
    "The tablet is locked while the van is moving. Hardware keys are free. Carers may take one week of unpaid leave a "
    "year. Anyone who has been ill must stay away from the laboratory for two days. Ice stays in the freezer for at "
    "least twenty hours before use. The depot is unstaffed after eight in the evening.",
    "denying.md",
)


@pytest.mark.parametrize(
    "said",
    [
        "The tablet cannot be used while the van is moving.",
        "You do not pay for hardware keys.",
        "Carers may take a week of leave a year without pay.",
        "Anyone who has been ill must not enter the laboratory for two days.",
        "After eight in the evening the depot has no staff.",
    ],
)
def test_a_word_that_denies_excuses_a_negation(said: str) -> None:
    verdict, checks = SupportChecker().check(said, [passage(DENYING)], language="en")
    assert verdict == "not_checked", checks


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The tablet can be used while the van is moving.", "left out: locked"),
        ("You do pay for hardware keys.", "left out: free"),
        ("Anyone who has been ill may enter the laboratory for two days.", "left out: away"),
        ("After eight in the evening the depot has staff.", "left out: unstaffed"),
        ("Carers may not take a week of leave a year, without pay.", "added: not take"),
        ("Anyone who has been ill must not enter the laboratory when two days have not passed.", "added: not passed"),
        ("Ice must not stay in the freezer for twenty hours or more before use.", "added: not stay"),
    ],
)
def test_a_word_that_denies_is_missed_and_excuses_one_negation_at_most(said: str, told: str) -> None:
    verdict, checks = SupportChecker().check(said, [passage(DENYING)], language="en")
    assert verdict in {"partial", "unsupported"}, checks
    assert told in str(checks["negation"])


class Failing:
    """An entailment model that cannot be asked."""

    id = "failing"

    def __init__(self) -> None:
        self.asked = 0

    def score(self, premise: str, hypothesis: str) -> float:
        self.asked += 1
        raise ModelUnavailable("the entailment endpoint at h did not answer within 10 seconds")


def test_where_the_entailment_model_fails_nothing_is_called_supported_and_it_is_not_asked_again() -> None:
    judge = Failing()
    checker = SupportChecker(None, judge)
    assert checker.notes == ()
    for said, verdict in (
        ("You must submit your claim within thirty days of returning.", "not_checked"),
        ("Within 10 working days of approval, claims are paid.", "not_checked"),
        ("Submit your claim within 40 days of your return.", "unsupported"),
        ("Claims are paid within ten working days of approval.", "supported"),
    ):
        found, checks = checker.check(said, [passage(TRAVEL)], language="en")
        assert found == verdict
        assert checks.get("entailment", "not checked") == "not checked"
    assert judge.asked == 1
    assert checker.notes == (
        "entailment was not checked: the entailment endpoint at h did not answer within 10 seconds",
    )


def test_a_model_that_cannot_be_loaded_is_one_that_fails() -> None:
    loads: list[str] = []

    def load() -> Entailer:
        loads.append("load")
        raise ModelNotInstalled("there is no model folder nli")

    deferred = DeferredEntailer("path:nli", load)
    said = "You must submit your claim within thirty days of returning."
    for _ in range(2):
        checker = SupportChecker(None, deferred)
        assert checker.check(said, [passage(TRAVEL)], language="en")[0] == "not_checked"
        assert checker.notes == ("entailment was not checked: there is no model folder nli",)
    assert (deferred.id, loads) == ("path:nli", ["load"])


def test_what_no_passage_speaks_of_is_not_supported() -> None:
    verdict, checks = judged("Penguins swim under thick ice every winter looking for krill.")
    assert verdict == "partial"
    assert float(checks["alignment"]) < 0.3


def test_a_sentence_that_cites_nothing_is_unsupported() -> None:
    assert SupportChecker().check("Anything.", [], language="en") == ("unsupported", {"citation": "missing"})


def test_a_fact_may_stand_in_any_of_the_passages_cited() -> None:
    cited = [passage(LAB, 1), passage(TRAVEL, 2)]
    verdict, checks = SupportChecker().check(
        "Claims are paid within 10 working days of approval.", cited, language="en"
    )
    assert verdict == "supported", checks


POOL = document(
    "The tour takes an hour and a half. Lessons begin at 21:00. Tickets are kept for 7 days. "
    "The slipway cannot be used at low tide. Long hair has to be tied back. The harbour is too shallow for boats of "
    "more than 1.4 m. Dogs may sleep in the hall but not in the dormitory. Nobody may drive for more than eight hours. "
    "Prices include the clay. The shelter has ten lessons of two hours."
)


@pytest.mark.parametrize(
    "said",
    [
        "You need 90 minutes for the tour.",
        "The lessons begin at nine in the evening.",
        "We keep a ticket for a week.",
        "At low tide the slipway is out of use.",
        "You must not wear long hair loose.",
        "Boats of more than 1.4 m cannot come into the harbour.",
        "The dormitory is closed to dogs, though they can sleep in the hall.",
        "You do not pay extra for the clay, which is in the price.",
    ],
)
def test_what_is_said_in_other_words_is_not_accused(said: str) -> None:
    verdict, checks = SupportChecker().check(said, [passage(POOL)], language="en")
    assert verdict in {"supported", "not_checked"}, checks


@pytest.mark.parametrize(
    "said",
    [
        "You need 80 minutes for the tour.",
        "The lessons begin at eight in the evening.",
        "At low tide the slipway is not out of use.",
        "You must wear long hair loose.",
        "The dormitory is closed to dogs, though they can not sleep in the hall.",
        "You may drive for more than eight hours.",
        "The shelter has ten lessons of ten hours.",
    ],
)
def test_what_says_the_contrary_in_other_words_is_told(said: str) -> None:
    verdict, checks = SupportChecker().check(said, [passage(POOL)], language="en")
    assert verdict in {"partial", "unsupported"}, checks
