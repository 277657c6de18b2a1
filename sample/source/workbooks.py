"""Content of the workbooks. Each sheet: name, title row or None, header, rows, column widths."""

METHODS = [
    ["Code", "Parameter", "Matrix", "Standard", "Limit of quantification", "Working days", "Sites"],
    ["RM-1101-M", "Escherichia coli and coliform bacteria", "Drinking water", "ISO 9308-1", "1 CFU/100 mL", 3, "Cremona, Udine, Exeter"],
    ["RM-1102-M", "Intestinal enterococci", "Drinking water", "ISO 7899-2", "1 CFU/100 mL", 4, "Cremona, Udine, Exeter"],
    ["RM-1105-M", "Colony count at 22 °C", "Drinking water", "ISO 6222", "1 CFU/mL", 5, "Cremona, Udine, Exeter"],
    ["RM-1107-M", "Legionella, culture", "Hot and cold water, cooling towers", "ISO 11731", "50 CFU/L", 12, "Cremona, Exeter"],
    ["RM-1108-M", "Legionella, rapid test by PCR", "Hot and cold water", "ISO/TS 12869", "300 GU/L", 2, "Exeter"],
    ["RM-1112-M", "Salmonella", "River and waste water", "ISO 19250", "presence in 1 L", 6, "Cremona"],
    ["RM-1115-M", "Cryptosporidium and Giardia", "Raw and treated water", "ISO 15553", "1 oocyst/10 L", 4, "Exeter"],
    ["RM-2101-I", "pH", "All waters", "ISO 10523", "not applicable", 1, "Cremona, Udine, Exeter"],
    ["RM-2103-I", "Conductivity", "All waters", "ISO 7888", "5 µS/cm", 1, "Cremona, Udine, Exeter"],
    ["RM-2106-I", "Turbidity", "Drinking water", "ISO 7027-1", "0.1 NTU", 1, "Cremona, Udine, Exeter"],
    ["RM-2110-I", "Nitrate, nitrite, chloride, sulfate", "Drinking and ground water", "ISO 10304-1", "0.5 mg/L nitrate", 4, "Cremona"],
    ["RM-2114-I", "Ammonium", "Drinking water", "ISO 7150-1", "0.02 mg/L", 3, "Cremona, Exeter"],
    ["RM-2118-I", "Total organic carbon", "Drinking and river water", "ISO 20236", "0.3 mg/L", 4, "Cremona"],
    ["RM-2201-T", "Lead, copper, nickel and 18 other metals", "Drinking water", "ISO 17294-2", "0.2 µg/L lead", 5, "Cremona"],
    ["RM-2204-T", "Metals in waste water", "Waste water", "ISO 11885", "10 µg/L lead", 6, "Exeter"],
    ["RM-2207-T", "Mercury", "All waters", "ISO 17852", "0.01 µg/L", 6, "Cremona"],
    ["RM-3101-O", "PFAS, 24 substances", "Drinking and ground water", "ISO 21675", "0.5 ng/L each", 8, "Cremona"],
    ["RM-3104-O", "Pesticides, 160 substances", "Drinking and ground water", "in-house, PI-31", "0.01 µg/L each", 9, "Cremona"],
    ["RM-3107-O", "Trihalomethanes", "Drinking and pool water", "ISO 15680", "0.5 µg/L", 5, "Cremona, Exeter"],
    ["RM-3110-O", "Polycyclic aromatic hydrocarbons", "Drinking water", "ISO 17993", "0.002 µg/L", 8, "Cremona"],
    ["RM-4101-R", "Radon", "Drinking water", "ISO 13164-4", "2 Bq/L", 5, "Udine"],
    ["RM-4103-R", "Gross alpha and beta activity", "Drinking water", "ISO 11704", "0.04 Bq/L alpha", 15, "Udine"],
    ["RM-4105-R", "Tritium", "Drinking water", "ISO 9698", "5 Bq/L", 10, "Udine"],
]

TARIFFE = [
    ["Codice", "Pacchetto", "Che cosa comprende", "Prezzo Italia", "Prezzo Regno Unito", "Prelievo compreso"],
    ["PK-01-A", "Acqua di casa, base", "pH, conducibilità, durezza, nitrati, coliformi, Escherichia coli", "€ 95,00", "£ 88.00", "no"],
    ["PK-02-A", "Acqua di casa, completa", "come PK-01-A, più metalli, solventi clorurati, ammonio", "€ 210,00", "£ 195.00", "no"],
    ["PK-05-A", "Pozzo privato", "come PK-01-A, più ferro, manganese, arsenico, enterococchi", "€ 165,00", "£ 152.00", "sì"],
    ["PK-07-A", "Piombo in casa", "piombo, rame e nichel sul primo litro", "€ 58,00", "£ 54.00", "no"],
    ["PK-10-L", "Legionella, un punto", "coltura, temperatura, relazione", "€ 112,00", "£ 104.00", "sì"],
    ["PK-11-L", "Legionella, albergo", "sei punti, valutazione delle temperature, relazione", "€ 540,00", "£ 498.00", "sì"],
    ["PK-12-L", "Legionella, prova rapida", "PCR su un punto, esito in due giorni lavorativi", "€ 146,00", "£ 135.00", "no"],
    ["PK-20-P", "Piscina, controllo mensile", "microbiologia, cloro libero e combinato, acido isocianurico", "€ 128,00", "£ 119.00", "sì"],
    ["PK-21-P", "Piscina, apertura stagionale", "come PK-20-P, più trialometani e due visite", "€ 320,00", "£ 296.00", "sì"],
    ["PK-30-F", "PFAS, 24 sostanze", "LC-MS/MS su acqua potabile o di falda", "€ 275,00", "£ 255.00", "no"],
    ["PK-40-R", "Radon nell'acqua", "una misura, flacone a rendere", "€ 84,00", "non disponibile", "no"],
]

NOTE_TARIFFE = [
    ["Voce", "Regola"],
    ["Validità", "Le tariffe valgono dal 1° gennaio al 31 dicembre 2026, IVA esclusa."],
    ["Urgenza", "Supplemento del 60 per cento, soltanto per la chimica."],
    ["Quantità", "Sconto del 12 per cento oltre i cinquanta campioni l'anno."],
    ["Scuole", "Le scuole pubbliche pagano metà tariffa per i pacchetti PK-01-A e PK-07-A."],
    ["Chiamata a vuoto", "Se il punto non è accessibile si addebitano 35 euro per la visita."],
    ["Copia del rapporto", "La prima copia è gratuita, le successive costano 6 euro ciascuna."],
]

SALARY_IT = [
    ["Livello", "Ruolo tipico", "Retribuzione annua lorda", "Note"],
    ["L2", "Addetto al magazzino, autista", "da € 22.400 a € 26.100", ""],
    ["L3", "Addetto ai prelievi, accettazione", "da € 24.300 a € 29.200", "più indennità di guida"],
    ["L4", "Tecnico di laboratorio", "da € 27.100 a € 33.800", ""],
    ["L5", "Analista esperto", "da € 32.500 a € 41.600", "firma dei rapporti: + € 2.400"],
    ["L6", "Responsabile di reparto", "da € 40.200 a € 52.700", ""],
    ["Q", "Quadro, responsabile di funzione", "da € 51.000 a € 68.500", "MBO fino al 10 per cento"],
]
SALARY_UK = [
    ["Grade", "Typical role", "Annual salary", "Notes"],
    ["U2", "Stores, driver", "£23,900 to £26,400", ""],
    ["U3", "Sampling officer, sample reception", "£25,600 to £29,900", "plus vehicle allowance"],
    ["U4", "Laboratory analyst", "£28,200 to £34,700", ""],
    ["U5", "Senior analyst", "£34,100 to £42,300", "signatory allowance £2,100"],
    ["U6", "Section head", "£42,800 to £53,600", ""],
    ["U7", "Head of function", "£54,500 to £69,900", "bonus up to 10 per cent"],
]
SALARY_RULES = [
    ["Rule", "Text"],
    ["Review", "Bands are reviewed each January and were raised by 2.9 per cent for 2026."],
    ["Starting pay", "New colleagues start in the lower third of the band; exceptions need the signature of the head of Human Resources."],
    ["Confidentiality", "Line managers see only the bands of their own team."],
]
