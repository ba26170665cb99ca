"""The countries of the samples: spellings, towns, postcodes and telephone numbering."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class City:
    """A town: its postcodes and telephone numbers as patterns for `Dice.fill`."""

    name: str
    postcode: str
    area: str
    line: str
    language: str


@dataclass(frozen=True, slots=True)
class Country:
    """A country: how people spell it, and how addresses and numbers look there."""

    code: str
    spellings: tuple[str, ...]
    region: str
    currency: str
    dial: str
    trunk: str
    mobile: tuple[str, ...]
    mobile_line: str
    cities: tuple[City, ...]


def _cities(language: str, text: str) -> tuple[City, ...]:
    """Towns written one per line as `name | postcode | area code | subscriber number`.

    A fifth part names the town's language where it is not that of the country.
    """
    rows = ([part.strip() for part in line.split("|")] for line in text.strip().splitlines())
    return tuple(City(row[0], row[1], row[2], row[3], (*row, language)[4]) for row in rows)


_ALL = (
    Country(
        code="DE",
        spellings=("Germany", "Deutschland", "GER"),
        region="DACH",
        currency="EUR",
        dial="49",
        trunk="0",
        mobile=("151", "160", "171", "172", "176"),
        mobile_line="%#######",
        cities=_cities(
            "de",
            """
        Augsburg | 861## | 821 | %######
        Berlin | 10### | 30 | %#######
        Bremen | 281## | 421 | %######
        Dortmund | 441## | 231 | %######
        Dresden | 010## | 351 | %######
        Düsseldorf | 402## | 211 | %######
        Erfurt | 990## | 361 | %######
        Frankfurt am Main | 603## | 69 | %#######
        Freiburg im Breisgau | 791## | 761 | %######
        Göttingen | 370## | 551 | %######
        Halle (Saale) | 061## | 345 | %######
        Hamburg | 20### | 40 | %#######
        Hannover | 301## | 511 | %######
        Köln | 506## | 221 | %######
        Leipzig | 041## | 341 | %######
        Lübeck | 235## | 451 | %######
        München | 80### | 89 | %#######
        Münster | 481## | 251 | %######
        Nürnberg | 904## | 911 | %######
        Stuttgart | 701## | 711 | %######
        Würzburg | 970## | 931 | %######""",
        ),
    ),
    Country(
        code="AT",
        spellings=("Austria", "Österreich", "AUT"),
        region="DACH",
        currency="EUR",
        dial="43",
        trunk="0",
        mobile=("650", "664", "676"),
        mobile_line="%######",
        cities=_cities(
            "de",
            """
        Wien | 1%%0 | 1 | 5######
        Graz | 80## | 316 | %#####
        Linz | 40## | 732 | %#####
        Salzburg | 50## | 662 | %#####
        Innsbruck | 60## | 512 | %#####
        Klagenfurt am Wörthersee | 90## | 463 | %#####
        Sankt Pölten | 31## | 2742 | %#####""",
        ),
    ),
    Country(
        code="CH",
        spellings=("Switzerland", "Schweiz", "Suisse", "CHE"),
        region="DACH",
        currency="CHF",
        dial="41",
        trunk="0",
        mobile=("76", "78", "79"),
        mobile_line="%######",
        cities=_cities(
            "de",
            """
        Zürich | 80## | 44 | 2######
        Bern | 30## | 31 | 3######
        Basel | 40## | 61 | 2######
        Genève | 120# | 22 | 7###### | fr
        Lausanne | 100# | 21 | 6###### | fr
        Lugano | 690# | 91 | 9###### | it
        Luzern | 600# | 41 | 2######
        St. Gallen | 900# | 71 | 2######
        Winterthur | 840# | 52 | 2######""",
        ),
    ),
    Country(
        code="GB",
        spellings=("United Kingdom", "UK", "Great Britain"),
        region="UK & Ireland",
        currency="GBP",
        dial="44",
        trunk="0",
        mobile=("7400", "7533", "7841"),
        mobile_line="%#####",
        cities=_cities(
            "en",
            """
        London | EC%A %@@ | 20 | 7%######
        Birmingham | B% %@@ | 121 | 2######
        Bristol | BS% %@@ | 117 | 9######
        Cardiff | CF1% %@@ | 29 | 20######
        Edinburgh | EH% %@@ | 131 | 2######
        Glasgow | G% %@@ | 141 | 2######
        Leeds | LS% %@@ | 113 | 2######
        Liverpool | L% %@@ | 151 | 2######
        Manchester | M% %@@ | 161 | 2######
        Newcastle upon Tyne | NE% %@@ | 191 | 2######
        Nottingham | NG% %@@ | 115 | 9######
        Sheffield | S% %@@ | 114 | 2######""",
        ),
    ),
    Country(
        code="IE",
        spellings=("Ireland", "Éire", "IRL"),
        region="UK & Ireland",
        currency="EUR",
        dial="353",
        trunk="0",
        mobile=("83", "85", "87"),
        mobile_line="%######",
        cities=_cities(
            "en",
            """
        Dublin | D0% @#@# | 1 | 6######
        Cork | T12 @#@# | 21 | 4######
        Galway | H91 @#@# | 91 | 5#####
        Limerick | V94 @#@# | 61 | 3#####
        Waterford | X91 @#@# | 51 | 3#####""",
        ),
    ),
    Country(
        code="FR",
        spellings=("France", "FRANCE", "FRA"),
        region="France",
        currency="EUR",
        dial="33",
        trunk="0",
        mobile=("6", "7"),
        mobile_line="5#######",
        cities=_cities(
            "fr",
            """
        Paris | 750%% | 1 | 4#######
        Lyon | 6900% | 4 | 72######
        Marseille | 1300% | 4 | 91######
        Toulouse | 31#00 | 5 | 61######
        Nantes | 44%00 | 2 | 40######
        Strasbourg | 67%00 | 3 | 88######
        Bordeaux | 33%00 | 5 | 56######
        Lille | 59%00 | 3 | 20######
        Rennes | 35%00 | 2 | 99######
        Grenoble | 38%00 | 4 | 76######
        Besançon | 25%00 | 3 | 81######""",
        ),
    ),
    Country(
        code="NL",
        spellings=("Netherlands", "Nederland", "The Netherlands"),
        region="Benelux & Nordics",
        currency="EUR",
        dial="31",
        trunk="0",
        mobile=("6",),
        mobile_line="2#######",
        cities=_cities(
            "nl",
            """
        Amsterdam | 10## @@ | 20 | 6######
        Rotterdam | 30## @@ | 10 | 4######
        Utrecht | 35## @@ | 30 | 2######
        Eindhoven | 56## @@ | 40 | 2######
        Groningen | 97## @@ | 50 | 3######
        Arnhem | 68## @@ | 26 | 4######
        Breda | 48## @@ | 76 | 5######
        's-Hertogenbosch | 52## @@ | 73 | 6######""",
        ),
    ),
    Country(
        code="IT",
        spellings=("Italy", "Italia", "ITA"),
        region="Southern Europe",
        currency="EUR",
        dial="39",
        trunk="",
        mobile=("333", "347", "349"),
        mobile_line="%######",
        cities=_cities(
            "it",
            """
        Milano | 201## | 02 | %#######
        Roma | 001## | 06 | %#######
        Torino | 101## | 011 | %######
        Bologna | 401## | 051 | %######
        Firenze | 501## | 055 | %######
        Genova | 161## | 010 | %######
        Napoli | 801## | 081 | %######
        Padova | 351## | 049 | %######
        Verona | 371## | 045 | %######
        Forlì | 4712# | 0543 | %#####""",
        ),
    ),
    Country(
        code="ES",
        spellings=("Spain", "España", "ESP"),
        region="Southern Europe",
        currency="EUR",
        dial="34",
        trunk="",
        mobile=("6",),
        mobile_line="%#######",
        cities=_cities(
            "es",
            """
        Madrid | 280## | 91 | 5######
        Barcelona | 080## | 93 | 4######
        Valencia | 460## | 96 | 3######
        Sevilla | 410## | 95 | 4######
        Zaragoza | 500## | 976 | 2#####
        Málaga | 290## | 95 | 2######
        Bilbao | 480## | 94 | 4######
        A Coruña | 150## | 981 | 2#####
        Cádiz | 110## | 956 | 2#####""",
        ),
    ),
    Country(
        code="PL",
        spellings=("Poland", "Polska", "POL"),
        region="Eastern Europe",
        currency="PLN",
        dial="48",
        trunk="",
        mobile=("501", "602", "691"),
        mobile_line="%#####",
        cities=_cities(
            "pl",
            """
        Warszawa | 00-### | 22 | 6######
        Kraków | 30-### | 12 | 4######
        Łódź | 90-### | 42 | 6######
        Wrocław | 50-### | 71 | 3######
        Poznań | 60-### | 61 | 8######
        Gdańsk | 80-### | 58 | 3######
        Katowice | 40-### | 32 | 2######
        Rzeszów | 35-### | 17 | 8######""",
        ),
    ),
    Country(
        code="SE",
        spellings=("Sweden", "Sverige", "SWE"),
        region="Benelux & Nordics",
        currency="SEK",
        dial="46",
        trunk="0",
        mobile=("70", "73", "76"),
        mobile_line="%######",
        cities=_cities(
            "sv",
            """
        Stockholm | 11# ## | 8 | 6######
        Göteborg | 41# ## | 31 | 7#####
        Malmö | 21# ## | 40 | 6#####
        Uppsala | 75# ## | 18 | 5#####
        Västerås | 72# ## | 21 | 4#####
        Örebro | 70# ## | 19 | 6#####""",
        ),
    ),
    Country(
        code="DK",
        spellings=("Denmark", "Danmark", "DNK"),
        region="Benelux & Nordics",
        currency="DKK",
        dial="45",
        trunk="",
        mobile=("21", "40", "51"),
        mobile_line="%#####",
        cities=_cities(
            "da",
            """
        København | 1%## | 33 | 3#####
        Aarhus | 80## | 86 | 1#####
        Odense | 50## | 66 | 1#####
        Aalborg | 90## | 98 | 1#####
        Helsingør | 3000 | 49 | 2#####""",
        ),
    ),
)

COUNTRIES: dict[str, Country] = {country.code: country for country in _ALL}
