"""What customers write to support, by category and language."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """Subjects with the sentence that opens the message, and sentences that may follow."""

    messages: tuple[tuple[str, str], ...]
    details: tuple[str, ...]


GREETINGS: dict[str, tuple[str, ...]] = {
    "en": ("Hello,", "Hi team,", "Dear support team,", "Good morning,"),
    "de": ("Guten Tag,", "Hallo zusammen,", "Sehr geehrte Damen und Herren,", "Hallo Support,"),
    "fr": ("Bonjour,", "Bonjour à tous,", "Madame, Monsieur,"),
}
CLOSINGS: dict[str, tuple[str, ...]] = {
    "en": ("Kind regards", "Best wishes", "Many thanks", "Thanks in advance"),
    "de": ("Mit freundlichen Grüßen", "Viele Grüße", "Beste Grüße", "Danke und Gruß"),
    "fr": ("Cordialement", "Bien à vous", "Merci d'avance"),
}
CALL_BACK: dict[str, str] = {
    "en": "You can reach me on {phone} until 5 pm.",
    "de": "Sie erreichen mich bis 17 Uhr unter {phone}.",
    "fr": "Vous pouvez me joindre au {phone} jusqu'à 17 h.",
}
NEW_IBAN: dict[str, str] = {
    "en": "Please debit our new account from now on: {iban}.",
    "de": "Bitte buchen Sie künftig von unserem neuen Konto ab: {iban}.",
    "fr": "Merci de prélever désormais sur notre nouveau compte : {iban}.",
}
COPY_TO: dict[str, str] = {
    "en": "Please copy my colleague in: {email}.",
    "de": "Bitte setzen Sie meine Kollegin in Kopie: {email}.",
    "fr": "Merci de mettre ma collègue en copie : {email}.",
}
CARD_NUMBER: dict[str, str] = {
    "en": "The card we tried was {card}.",
    "de": "Die benutzte Karte war {card}.",
    "fr": "La carte utilisée était {card}.",
}

TOPICS: dict[str, dict[str, Topic]] = {
    "en": {
        "Billing": Topic(
            (
                (
                    "Reminder for {invoice}",
                    "we received a reminder for invoice {invoice}, but the payment is on its way.",
                ),
                (
                    "Wrong amount on our invoice",
                    "invoice {invoice} shows a higher amount than our contract for {product}.",
                ),
                (
                    "Please send {invoice} again",
                    "could you send invoice {invoice} again? It never reached our accounts team.",
                ),
                ("VAT number missing", "our VAT number is missing on invoice {invoice}."),
                ("Reminder fee", "the reminder fee on {invoice} should be waived, please."),
            ),
            (
                "Our approval takes until the end of the month.",
                "The order number must be printed on it.",
                "Two people here have asked me about it already.",
                "We have always paid within the agreed term until now.",
            ),
        ),
        "Technical": Topic(
            (
                (
                    "Error {code} in {product}",
                    'since the last update {product} stops with the message "error {code}".',
                ),
                (
                    "{product} sync fails",
                    "the nightly sync of {product} has failed three times in a row.",
                ),
                (
                    "{product} is very slow",
                    "{product} takes more than a minute to open the overview.",
                ),
                ("Empty export", "exports from {product} come out empty when I filter by date."),
                (
                    "Scanner in {city}",
                    "the scanner in our {city} warehouse no longer talks to {product}.",
                ),
            ),
            (
                "We already restarted everything twice.",
                "It works on one computer and fails on all the others.",
                "A screenshot is attached.",
                "Nobody changed anything on our side.",
                'The log only says "timeout after 30 s".',
            ),
        ),
        "Access": Topic(
            (
                ("Cannot log in", "I cannot log in to {product} since this morning."),
                (
                    "New user for {product}",
                    "please create a user for our new colleague in {city}.",
                ),
                (
                    "Password reset does not arrive",
                    "the password e-mail for {product} never arrives.",
                ),
                (
                    "Nobody can add users",
                    "our administrator has left and nobody can add users to {product}.",
                ),
            ),
            (
                "Our office in {city} cannot work like this.",
                "I checked with our IT department first.",
                "We need it before the stocktaking on Friday.",
            ),
        ),
        "Delivery": Topic(
            (
                ("Devices not delivered", "the scanners we ordered have not arrived in {city}."),
                ("Wrong parts", "the parcel contained two chargers but no device."),
                ("New address", "please send the next delivery to our other site in {city}."),
            ),
            (
                "The tracking page has not changed for four days.",
                "The driver says nobody was in, which is not true.",
                "Our order was placed three weeks ago.",
            ),
        ),
        "Feature": Topic(
            (
                (
                    "Reports by branch",
                    "it would help us a lot if {product} could split reports by branch.",
                ),
                (
                    "Export to a spreadsheet",
                    "is there a way to export more than 500 lines from {product}?",
                ),
                ("Idea for {product}", "we would like to colour orders by status in {product}."),
            ),
            (
                "At the moment we copy everything by hand.",
                "Our team in {city} asks for it every week.",
                "Happy to test an early version.",
            ),
        ),
        "Cancellation": Topic(
            (
                (
                    "Cancellation of our contract",
                    "we hereby cancel our contract for {product} at the next possible date.",
                ),
                (
                    "End of contract for {product}",
                    "we are closing our site in {city} and no longer need {product}.",
                ),
            ),
            (
                "Please confirm in writing.",
                "Please tell us how we can export our data.",
                "The support times were the main reason.",
            ),
        ),
    },
    "de": {
        "Billing": Topic(
            (
                (
                    "Mahnung zu {invoice}",
                    "wir haben eine Mahnung zu {invoice} erhalten, die Zahlung ist unterwegs.",
                ),
                (
                    "Falscher Betrag",
                    "der Betrag auf {invoice} passt nicht zu unserem Vertrag für {product}.",
                ),
                (
                    "Rechnung bitte erneut senden",
                    "bitte senden Sie uns die Rechnung {invoice} noch einmal zu.",
                ),
            ),
            (
                "Die Freigabe dauert bei uns bis Monatsende.",
                "Unsere Bestellnummer muss auf der Rechnung stehen.",
                "Bisher haben wir immer pünktlich gezahlt.",
            ),
        ),
        "Technical": Topic(
            (
                (
                    "Fehler {code} in {product}",
                    "seit dem letzten Update bricht {product} mit „Fehler {code}“ ab.",
                ),
                (
                    "Abgleich schlägt fehl",
                    "der nächtliche Abgleich von {product} ist dreimal fehlgeschlagen.",
                ),
                (
                    "Scanner in {city}",
                    "der Scanner in unserem Lager in {city} erreicht {product} nicht mehr.",
                ),
                ("{product} sehr langsam", "{product} braucht über eine Minute zum Öffnen."),
            ),
            (
                "Wir haben schon alles neu gestartet.",
                "Auf einem Rechner läuft es, auf allen anderen nicht.",
                "Ein Bildschirmfoto hängt an.",
            ),
        ),
        "Access": Topic(
            (
                (
                    "Anmeldung nicht möglich",
                    "seit heute früh kann ich mich nicht mehr bei {product} anmelden.",
                ),
                (
                    "Neuer Benutzer",
                    "bitte legen Sie einen Benutzer für unsere neue Kollegin in {city} an.",
                ),
            ),
            (
                "Unsere IT habe ich schon gefragt.",
                "Wir brauchen das vor der Inventur am Freitag.",
            ),
        ),
        "Delivery": Topic(
            (
                (
                    "Lieferung fehlt",
                    "die bestellten Scanner sind in {city} noch nicht angekommen.",
                ),
                (
                    "Falsche Teile geliefert",
                    "im Paket lagen zwei Ladegeräte, aber kein Gerät.",
                ),
            ),
            (
                "Die Sendungsverfolgung steht seit vier Tagen still.",
                "Bestellt haben wir vor drei Wochen.",
            ),
        ),
        "Feature": Topic(
            (
                (
                    "Auswertung je Filiale",
                    "es würde uns helfen, wenn {product} Berichte je Filiale zeigen könnte.",
                ),
                (
                    "Wunsch zu {product}",
                    "kann man mehr als 500 Zeilen aus {product} exportieren?",
                ),
            ),
            ("Im Moment übertragen wir alles von Hand.", "Wir testen gern eine Vorabversion."),
        ),
        "Cancellation": Topic(
            (
                (
                    "Kündigung unseres Vertrags",
                    "hiermit kündigen wir den Vertrag für {product} zum nächstmöglichen Termin.",
                ),
                (
                    "Kündigung wegen Schließung",
                    "wir schließen den Standort {city} und brauchen {product} nicht mehr.",
                ),
            ),
            ("Bitte bestätigen Sie uns das schriftlich.", "Wie bekommen wir unsere Daten heraus?"),
        ),
    },
    "fr": {
        "Billing": Topic(
            (
                (
                    "Relance pour {invoice}",
                    "nous avons reçu une relance pour {invoice}, le paiement est en cours.",
                ),
                (
                    "Montant erroné",
                    "le montant de {invoice} ne correspond pas à notre contrat {product}.",
                ),
            ),
            ("La validation prend jusqu'à la fin du mois.", "Merci d'indiquer notre référence."),
        ),
        "Technical": Topic(
            (
                (
                    "Erreur {code}",
                    "depuis la mise à jour, {product} s'arrête avec « erreur {code} ».",
                ),
                (
                    "Synchronisation de {product}",
                    "la synchronisation de {product} a échoué trois nuits de suite.",
                ),
            ),
            ("Nous avons tout redémarré.", "Une capture d'écran est jointe."),
        ),
        "Access": Topic(
            (
                (
                    "Connexion impossible",
                    "je ne peux plus me connecter à {product} depuis ce matin.",
                ),
                (
                    "Nouvel utilisateur",
                    "merci de créer un compte pour notre nouvelle collègue à {city}.",
                ),
            ),
            ("J'ai d'abord demandé à notre service.", "Il nous le faut avant vendredi."),
        ),
        "Delivery": Topic(
            (
                (
                    "Livraison manquante",
                    "les lecteurs commandés ne sont pas arrivés à {city}.",
                ),
                (
                    "Colis incomplet",
                    "le colis contenait deux chargeurs mais aucun appareil.",
                ),
            ),
            ("Le suivi n'a pas changé depuis quatre jours.", "La commande date de trois semaines."),
        ),
        "Feature": Topic(
            (
                (
                    "Idée pour {product}",
                    "il nous serait utile que {product} présente les rapports par agence.",
                ),
                ("Export des données", "peut-on exporter plus de 500 lignes de {product} ?"),
            ),
            ("Pour l'instant nous copions tout à la main.", "Nous testerons volontiers."),
        ),
        "Cancellation": Topic(
            (
                (
                    "Résiliation du contrat",
                    "nous résilions notre contrat {product} à la prochaine échéance.",
                ),
            ),
            ("Merci de confirmer par écrit.", "Comment exporter nos données ?"),
        ),
    },
}

SPELLINGS: dict[str, tuple[str, ...]] = {
    "Billing": ("billing", "Biling", "BILLING", "Billing/Invoice"),
    "Technical": ("technical", "Tecnical", "Technical issue", "TECHNICAL"),
    "Access": ("access", "Acess", "Login / Access"),
    "Delivery": ("delivery", "Delievery", "DELIVERY"),
    "Feature": ("feature", "Feature request", "Feture"),
    "Cancellation": ("cancellation", "Cancelation", "CANCELLATION"),
}
