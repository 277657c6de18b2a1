"""Abbreviations whose full stop may not end a sentence, by what must follow for it to end one after all."""

from __future__ import annotations

from typing import Final

NEVER: Final = frozenset(
    # English
    "mr mrs ms messrs mx dr prof rev hon fr sr.a mt ft e.g i.e viz cf vs approx fig figs eq eqs eqn sect vol vols "
    "ph dept gov sen rep gen col lt sgt capt cmdr maj pres supt asst assoc univ "
    # Italian
    "sig sigg sig.ra sig.re sig.na sigra dott dott.ssa dottssa dr.ssa prof.ssa ing avv geom arch rag mons cav "
    "comm on.le egr gent.mo spett ill.mo d.lgs d.lgsl d.leg d.l d.p.r dpr d.p.c.m d.m l.r d.g.r r.d c.p.c c.p c.c "
    "cfr artt pag pagg pp sez lett tabb figg capp nn es p.es ad.es c.d cd ca v.le p.zza c.so v.lo s.s "
    "ss dir reg racc sent cass trib ord prot rif "
    # German, French, Spanish, Portuguese
    "z.b d.h bzw vgl nr abs mme mlle mlles dra sra srta prov p.ex".split()
)
"""Titles and pointers: something always follows."""

REFERENCES: Final = frozenset(
    "no nos art arts fig tab cap par all sec ch ed pt app eq tav comma col vers ver lib libr ep stat max min lin op "
    "num doc docs mod alleg cl sched".split()
)
"""Also plain words: no end before a number, a numeral or one capital letter; an end before anything else."""

USUALLY: Final = frozenset(
    # months and weekdays
    "jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri gen febbr giu lug ago sett "
    "ott dic "
    # firms and forms
    "inc ltd co corp bros llc jr sr esq st ave blvd rd est tel al incl excl escl s.p.a s.r.l s.n.c s.a.s s.a.p.a spa "
    "srl sas snc s.c.a.r.l p.a p.iva i.v.a c.f f.lli fam loc fraz cel int "
    # places, eras, degrees
    "u.s u.k u.n e.u u.s.a d.c a.d b.c b.c.e c.e a.c ph.d m.d b.a m.a m.sc b.sc bros dist resp circ ord abbr pubbl "
    "mitt dest ndr n.d.r p.s n.b".split()
)
"""An end only where the next word is one that begins sentences (``STARTERS``)."""

LISTS: Final = frozenset("etc ecc eccetera usw etcetera".split())
"""An end before a capital letter."""

CLOCK: Final = frozenset("a.m p.m am pm".split())
"""An end before a capitalised word that is no weekday, month or time zone."""

CALENDAR: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december est edt cst cdt pst pdt mst gmt utc cet cest bst eastern pacific central "
    "greenwich".split()
)

ENGLISH_WORDS: Final = frozenset("on all es art par cap tab comma ca ago ott dir".split())
"""Abbreviations of Italian that are words, or nothing, in English."""

STARTERS: Final = frozenset(
    # English
    "the a an this that these those it its he she they we you i in on at for from with by as but and or if when while "
    "after before since because although however there here what who how why where which his her their our your my "
    "no not yes one two some many most all each every both during under over according then thus so also "
    "is are was were do does did can could should would will please see "
    # Italian
    "il lo la gli le un uno una l dell nell all un' in nel nella nei nelle nello di del della dei degli delle da dal "
    "dalla al alla ai alle con per su sul sulla tra fra e ed ma se quando dopo prima poi perché però anche non è sono "
    "si ci questo questa questi queste quello quella quelli quelle tutti tutte ogni chi che come dove quindi inoltre "
    "infine tuttavia secondo durante entro oltre altri altre alcuni alcune molti molte era erano ha hanno".split()
)
"""Words that, capitalised, nearly always begin a sentence."""

SAYING: Final = frozenset(
    "said says asked asks replied cried shouted answered whispered added disse chiese rispose esclamò domandò aggiunse "
    "gridò sussurrò ribatté".split()
)
