"""Testo di quality/manuale-qualita.pdf."""

TITLE = "Manuale della qualità"
SUBTITLE = "Estratto per il personale"
DOCUMENT = "MQ-01, revisione 9 del 2 marzo 2026"
RUNNING = "Risorgiva Società Cooperativa – Manuale della qualità MQ-01, rev. 9"

REVISIONS = [
    ["Rev.", "Data", "Che cosa è cambiato"],
    ["6", "18 gennaio 2021", "Adeguamento completo alla norma UNI CEI EN ISO/IEC 17025:2018"],
    ["7", "7 novembre 2022", "Un solo manuale per Cremona, Udine ed Exeter"],
    ["8", "15 aprile 2024", "Nuova regola di decisione; prove valutative ogni anno per ciascun metodo"],
    ["9", "2 marzo 2026", "Conservazione dei dati grezzi portata a dieci anni; tempi di chiusura delle non conformità"],
]

FRONT = [
    ("p", "Questo estratto contiene i capitoli che tutto il personale deve conoscere. Il manuale completo, con le "
          "procedure gestionali e le matrici di responsabilità, si trova in Gora alla voce <i>Qualità</i>. Il "
          "Responsabile Qualità è il Dott. Luca Ferrarin; in sua assenza decide la Dott.ssa Elisa Mori."),
    ("p", "I laboratori di Cremona e di Udine sono accreditati dall'ente italiano, quello di Exeter dall'ente "
          "britannico. L'accreditamento riguarda le singole prove e non l'azienda: nei documenti per i clienti non "
          "si scrive mai «laboratorio certificato» e il marchio compare soltanto sui rapporti che contengono "
          "almeno una prova accreditata."),
]

BODY = [
    ("h1", "1. Imparzialità e riservatezza"),
    ("p", "Nessuno che abbia rapporti commerciali con un cliente può approvare i risultati di quel cliente. I rischi "
          "per l'imparzialità vengono riesaminati ogni anno, a febbraio, insieme alle dichiarazioni del personale "
          "(modulo MOD-05-C). Se un rischio non si può eliminare, il lavoro passa a un'altra sede del gruppo."),
    ("p", "I risultati si comunicano soltanto al cliente e alle persone che il cliente ha indicato per iscritto. Quando "
          "la legge impone di avvisare l'autorità sanitaria, il cliente ne viene informato prima, salvo divieto."),

    ("h1", "2. Competenza del personale"),
    ("p", "L'abilitazione a una prova si ottiene analizzando sei campioni di controllo e si mantiene eseguendo la prova "
          "almeno una volta ogni tre mesi. Chi resta fermo più a lungo ripete due campioni di controllo prima di "
          "riprendere. Il responsabile di prova riesamina le abilitazioni a gennaio e a luglio."),
    ("p", "Firmano i rapporti di prova soltanto le persone comprese nell'elenco EL-03. Per entrarvi servono l'iscrizione "
          "all'albo dei chimici o dei biologi, quando la legge la prevede, e due anni di esperienza nel settore."),

    ("h1", "3. Metodi e validazione"),
    ("p", "Si preferiscono i metodi normati. Un metodo interno si può usare solo dopo una validazione completa, descritta "
          "in un rapporto approvato dal Responsabile Qualità: selettività, linearità, limite di quantificazione, "
          "ripetibilità, recupero, incertezza. Per il recupero si analizzano almeno dieci campioni addizionati, "
          "a due livelli di concentrazione; per le acque potabili il recupero medio deve stare fra l'80 e il 115 "
          "per cento."),
    ("p", "Per i metodi normati basta la verifica, con sei prove ripetute in giorni diversi. La verifica si ripete "
          "quando cambiano lo strumento, il locale o la norma."),

    ("h1", "4. Assicurazione della validità dei risultati"),
    ("h2", "4.1 Controlli interni"),
    ("p", "Ogni serie comprende un bianco, un controllo a metà della scala e un campione ripetuto ogni venti. Un controllo "
          "oltre tre scarti tipo ferma la serie; due controlli consecutivi oltre due scarti tipo, dalla stessa parte, la "
          "fermano ugualmente. La serie riprende soltanto quando la causa è stata scritta, e «errore casuale» non è "
          "una causa."),
    ("h2", "4.2 Prove valutative interlaboratorio"),
    ("p", "Ogni metodo accreditato partecipa almeno a una prova valutativa l'anno. Il punteggio z si giudica così: fino a "
          "2 in valore assoluto il risultato è accettabile; fra 2 e 3 si apre un'indagine senza fermare la prova; da 3 in "
          "su la prova è sospesa e i rapporti degli ultimi due mesi vengono riesaminati."),
    ("h2", "4.3 Tarature"),
    ("p", "Le bilance si verificano ogni giorno con due pesi e si tarano ogni anno. I termometri di riferimento si tarano "
          "ogni tre anni, con un controllo annuale al punto del ghiaccio. Le micropipette si controllano ogni quattro "
          "mesi con dieci pesate per volume."),

    ("h1", "5. Non conformità, reclami, azioni correttive"),
    ("p", "Chiunque può aprire una non conformità, e chi l'apre non deve spiegare di chi è la colpa. Si usa il modulo "
          "NC-01-V in Gora. La classe la decide l'Ufficio Qualità entro un giorno lavorativo, secondo la tabella."),
    ("table", ("Tabella 1. Classi di non conformità e tempi di chiusura", [
        ["Classe", "Esempio", "Primo intervento", "Chiusura"],
        ["A", "Risultato errato già consegnato al cliente", "entro 4 ore", "entro 15 giorni"],
        ["B", "Controllo fuori limite, risultato non ancora emesso", "entro 1 giorno", "entro 30 giorni"],
        ["C", "Registrazione mancante o illeggibile", "entro 5 giorni", "entro 60 giorni"],
        ["D", "Suggerimento di miglioramento", "alla prima riunione", "senza scadenza"],
    ])),
    ("p", "I reclami dei clienti si registrano lo stesso giorno e li tratta una persona che non ha partecipato alla prova. "
          "Al cliente si risponde entro cinque giorni lavorativi, anche solo per dirgli che stiamo ancora cercando. La "
          "risposta definitiva arriva entro trenta giorni ed è firmata dal direttore della sede."),
    ("p", "Quando un risultato già consegnato risulta sbagliato si telefona al cliente prima di scrivergli. Il nuovo "
          "rapporto porta lo stesso numero seguito dalla lettera R e la frase «annulla e sostituisce»."),

    ("h1", "6. Rapporti di prova e regola di decisione"),
    ("p", "Il giudizio di conformità tiene conto dell'incertezza estesa, calcolata con fattore di copertura 2. Un risultato "
          "è dichiarato non conforme solo se supera il limite di legge anche dopo aver sottratto l'incertezza; se "
          "lo supera soltanto senza sottrarla, il rapporto dice che non è possibile pronunciarsi. Il cliente può scegliere "
          "per iscritto un'altra regola, purché sia indicata nel rapporto."),
    ("p", "Le opinioni e le interpretazioni sono scritte in un riquadro a parte e portano il nome di chi le esprime. Il "
          "rapporto non contiene consigli sugli impianti, che sono un altro mestiere."),

    ("h1", "7. Registrazioni e archiviazione"),
    ("p", "I dati grezzi e i rapporti di prova si conservano per dieci anni dalla data di emissione; le registrazioni del "
          "personale, per tutta la durata del rapporto di lavoro e per i dieci anni seguenti. I tracciati su carta termica "
          "si copiano entro una settimana, perché sbiadiscono."),
    ("p", "Le correzioni sui quaderni si fanno con un tratto di penna che lasci leggibile il valore precedente, con sigla, "
          "data e motivo. Il bianchetto è vietato in tutto l'edificio."),

    ("h1", "8. Verifiche interne e riesame"),
    ("p", "Ogni reparto è sottoposto a verifica interna una volta l'anno da un collega di un'altra sede. Il rapporto si "
          "consegna entro dieci giorni lavorativi. Il riesame della direzione si tiene in marzo e guarda sette dati: reclami, "
          "non conformità per classe, esiti delle prove valutative, puntualità dei rapporti, tarature scadute, ore di "
          "formazione, osservazioni degli enti di accreditamento."),
    ("p", "Nel 2025 i rapporti usciti in tempo sono stati il 96,3 per cento, con un obiettivo del 95; le non conformità di "
          "classe A sono state sette, due in meno dell'anno precedente."),

    ("h1", "9. Subappalto"),
    ("p", "Le prove che non eseguiamo si affidano a laboratori accreditati per quella prova, compresi nell'elenco EL-07, e "
          "con il consenso scritto del cliente. Nel rapporto sono segnate con un asterisco. Il laboratorio esterno risponde a "
          "noi, noi rispondiamo al cliente: un errore del subappaltatore è una nostra non conformità."),
]
