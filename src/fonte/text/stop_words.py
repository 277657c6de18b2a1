"""Words that carry no subject, by language, in folded form (lower case, no accents)."""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final = {
    "en": frozenset(
        "a about above after again against all also am an and any are as at be because been before being "
        "below between both but by can cannot could did do does doing done down during each either else ever "
        "few for from further get gets got had has have having he her here hers herself him himself his how "
        "however i if in into is it its itself just let ll m may me might more most much must my myself "
        "neither no nor not now of off on once only or other ought our ours ourselves out over own per re s "
        "same shall she should so some such t than that the their theirs them themselves then there these "
        "they this those through thus to too under until up upon us ve very was we were what whatever when "
        "where whether which while who whom whose why will with within without would yet you your yours "
        "yourself yourselves d don didn doesn isn wasn aren weren won wouldn shouldn couldn".split()
    ),
    "it": frozenset(
        "a ad ai al alla alle allo agli all anche ancora avere aveva avevano avra abbia abbiamo abbiano ben c "
        "che chi ci cio cioe coi col come con contro cos cosa cosi cui d da dagli dai dal dall dalla dalle "
        "dallo degli dei del dell della delle dello dentro di dopo dove due e ecco ed era erano essere esso "
        "essa essi esse fa far fare fino fra fu furono gia gli ha hai hanno ho i il in io l la le lei li lo "
        "loro lui lungo m ma me mentre mi mia mie miei mio molto ne negli nei nel nell nella nelle nello no "
        "noi non nostra nostre nostri nostro o od ogni oppure per perche pero piu poi prima pure qua qual "
        "quale quali qualche quando quanta quante quanti quanto quel quell quella quelle quelli quello quest "
        "questa queste questi questo qui quindi s sara saranno se sei sempre senza si sia siamo siano siete "
        "sono sopra sotto sta stata state stati stato su sua sue sugli sui sul sull sulla sulle sullo suo "
        "suoi t te ti tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno v vi voi vostra vostre "
        "vostri vostro avuto dunque inoltre n".split()
    ),
    "fr": frozenset(
        "a ai ait alors as au aucun aussi autre aux avait avec avoir c ca car ce ceci cela celle celles celui "
        "ces cet cette ceux chaque chez comme comment d dans de des donc dont du elle elles en encore entre "
        "est et etaient etait ete etre eu fait il ils j je jusqu l la le les leur leurs lors lorsque lui m ma "
        "mais me meme mes moi mon n ne ni non nos notre nous on ont ou par pas pendant plus pour pourquoi qu "
        "quand que quel quelle quelles quels qui quoi s sa sans se sera ses si sien son sont sous sur t ta te "
        "tes toi ton tous tout toute toutes tres tu un une vos votre vous y combien".split()
    ),
    "de": frozenset(
        "aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist "
        "da dadurch daher damit dann das dass dasselbe dazu dein deine dem den denn der deren des dessen die "
        "dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es "
        "etwas euch euer fur gegen gewesen hab habe haben hat hatte hatten hier hinter ich ihm ihn ihnen ihr "
        "ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jetzt kann kein keine konnen "
        "konnte man manche mein meine mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein "
        "seine seinem seinen seiner seit sich sie sind so solche soll sollte sondern sonst uber um und uns "
        "unser unter viel vom von vor wahrend war waren warum was weil welche welchem welchen welcher welches "
        "wenn wer werde werden wie wieder will wir wird wo wollen wurde wurden zu zum zur zwar zwischen "
        "wieviel".split()
    ),
    "es": frozenset(
        "a al algo algunas algunos ante antes aquel aquella aquellos aqui asi aun aunque cada como con contra "
        "cual cuales cualquier cuando cuanta cuantas cuanto cuantos de del desde donde dos durante e el ella "
        "ellas ellos en entre era eran es esa esas ese eso esos esta estaba estado estan estar estas este "
        "esto estos fue fueron ha haber habia han hasta hay la las le les lo los mas me mi mis mucho muy nada "
        "ni no nos nosotros nuestra nuestro o os otra otro para pero poco por porque que quien quienes se sea "
        "segun ser si sido sin sobre son su sus tambien tanto te tiene tienen todo todos tu tus un una unas "
        "uno unos usted y ya yo".split()
    ),
    "pt": frozenset(
        "a ao aos aquela aquele aquilo as ate com como da das de dela dele deles depois do dos e ela elas ele "
        "eles em entre era eram essa essas esse esses esta estao estas estava este estes eu foi foram ha isso "
        "isto ja lhe lhes mais mas me mesmo meu minha muito na nao nas nem no nos nossa nosso num numa o onde "
        "os ou para pela pelas pelo pelos por porque qual quais quando quanto quantos quantas que quem sao se "
        "seja sem ser seu seus so sob sobre sua suas tambem te tem tinha um uma umas uns voce vos".split()
    ),
}
