"""Made-up company names, their legal forms and e-mail domains."""

from dataclasses import dataclass

from scripts.samples.corruptions import ascii_spelling
from scripts.samples.countries import City
from scripts.samples.dice import Dice, Odds
from scripts.samples.names import NAMES, listed


@dataclass(frozen=True, slots=True)
class Company:
    """A company: `core` is the name without its legal form."""

    core: str
    legal: str
    industry: str
    domain: str

    @property
    def name(self) -> str:
        return f"{self.core} {self.legal}"


# The star stands for the family name or coined word.
_TRADES: dict[str, dict[str, tuple[str, ...]]] = {
    "de": {
        "Transport": listed("* Logistik, * Spedition, Spedition *, * Kurierdienst"),
        "Manufacturing": listed("* Maschinenbau, * Metallbau, * Feinmechanik, * Werkzeugbau"),
        "Food": listed("Bäckerei *, Molkerei *, Brauerei *, * Feinkost, Weingut *"),
        "Construction": listed("* Hochbau, * Bau, Zimmerei *, * Gebäudetechnik, Dachdeckerei *"),
        "Software": listed("* Software, * Systemhaus, * Datentechnik, * Informatik"),
        "Retail": listed("Möbelhaus *, Buchhandlung *, Autohaus *, Gärtnerei *, * Großhandel"),
        "Health": listed("* Medizintechnik, Sanitätshaus *, Apotheke *, * Dentallabor"),
        "Energy": listed("* Solartechnik, * Energie, * Wärmepumpen"),
        "Consulting": listed("* Beratung, Steuerkanzlei *, Ingenieurbüro *, * & Partner"),
    },
    "en": {
        "Transport": listed("* Haulage, * Freight, * Logistics, * Couriers"),
        "Manufacturing": listed("* Engineering, * Precision Tools, * Castings, * Plastics"),
        "Food": listed("* Bakery, * Foods, * Brewing, * Dairy, * Fine Teas"),
        "Construction": listed("* Builders, * Joinery, * Roofing, * Civil Works"),
        "Software": listed("* Software, * Systems, * Analytics, * Digital"),
        "Retail": listed("* Furniture, * Books, * Motors, * Garden Centre, * Wholesale"),
        "Health": listed("* Medical Supplies, * Pharmacy, * Dental Care, * Diagnostics"),
        "Energy": listed("* Solar, * Power Services, * Heating"),
        "Consulting": listed("* Consulting, * & Sons, * Associates, * Surveyors"),
    },
    "fr": {
        "Transport": listed("Transports *, * Logistique, Messageries *"),
        "Manufacturing": listed("Ateliers *, * Mécanique, Fonderie *, * Plasturgie"),
        "Food": listed("Boulangerie *, Fromagerie *, Brasserie *, Domaine *"),
        "Construction": listed("* Bâtiment, Menuiserie *, Charpentes *, * Travaux Publics"),
        "Software": listed("* Informatique, * Logiciels, * Numérique"),
        "Retail": listed("Librairie *, Meubles *, Jardinerie *, Garage *"),
        "Health": listed("Pharmacie *, Laboratoire *, * Santé"),
        "Energy": listed("* Énergies, * Solaire, Chauffage *"),
        "Consulting": listed("Cabinet *, * Conseil, * et Associés"),
    },
    "nl": {
        "Transport": listed("* Transport, * Koeriers, * Logistiek"),
        "Manufacturing": listed("* Metaal, * Machinebouw, * Kunststoffen"),
        "Food": listed("Bakkerij *, Kaasmakerij *, Brouwerij *, * Versgroep"),
        "Construction": listed("Bouwbedrijf *, * Dakwerken, Timmerwerken *"),
        "Software": listed("* Automatisering, * Software, * Data"),
        "Retail": listed("* Wonen, Boekhandel *, Tuincentrum *, * Fietsen"),
        "Health": listed("Apotheek *, * Zorg, * Medisch"),
        "Energy": listed("* Zonnepanelen, * Energie"),
        "Consulting": listed("* Advies, * Accountants, * en Partners"),
    },
    "it": {
        "Transport": listed("Autotrasporti *, * Logistica, Spedizioni *"),
        "Manufacturing": listed("Officine *, Meccanica *, * Stampi, Ceramiche *"),
        "Food": listed("Pastificio *, Panificio *, Cantine *, Salumificio *, Caseificio *"),
        "Construction": listed("Costruzioni *, Edilizia *, Infissi *"),
        "Software": listed("* Informatica, * Sistemi, * Digitale"),
        "Retail": listed("Arredamenti *, Libreria *, Calzature *, Vivai *"),
        "Health": listed("Farmacia *, * Biomedica, Ottica *"),
        "Energy": listed("* Energia, * Impianti Solari"),
        "Consulting": listed("Studio *, * Consulenza, * e Figli"),
    },
    "es": {
        "Transport": listed("Transportes *, * Logística, Mensajería *"),
        "Manufacturing": listed("Talleres *, * Mecanizados, Plásticos *"),
        "Food": listed("Panadería *, Bodegas *, Conservas *, Quesería *"),
        "Construction": listed("Construcciones *, Reformas *, * Obras"),
        "Software": listed("* Informática, * Sistemas, * Soluciones Digitales"),
        "Retail": listed("Muebles *, Librería *, Viveros *, Ferretería *"),
        "Health": listed("Farmacia *, Clínica Dental *, * Sanitaria"),
        "Energy": listed("* Energía Solar, * Climatización"),
        "Consulting": listed("Asesoría *, Gestoría *, * y Asociados"),
    },
    "pl": {
        "Transport": listed("* Transport, * Spedycja, Przewozy *"),
        "Manufacturing": listed("* Obróbka Metali, Zakład Mechaniczny *, * Tworzywa"),
        "Food": listed("Piekarnia *, Mleczarnia *, Browar *"),
        "Construction": listed("* Budownictwo, Stolarnia *, Dekarstwo *"),
        "Software": listed("* Oprogramowanie, * Informatyka, * Systemy"),
        "Retail": listed("Meble *, Księgarnia *, Ogrody *"),
        "Health": listed("Apteka *, * Medyczne"),
        "Energy": listed("* Fotowoltaika, * Energia"),
        "Consulting": listed("* Doradztwo, Kancelaria *, * i Wspólnicy"),
    },
    "sv": {
        "Transport": listed("* Åkeri, * Frakt, * Logistik"),
        "Manufacturing": listed("* Mekaniska, * Verkstad, * Plast"),
        "Food": listed("* Bageri, * Mejeri, * Bryggeri"),
        "Construction": listed("* Bygg, * Snickeri, * Tak"),
        "Software": listed("* Programvara, * Data, * System"),
        "Retail": listed("* Möbler, * Bokhandel, * Trädgård"),
        "Health": listed("* Tandvård, * Medicinteknik"),
        "Energy": listed("* Solkraft, * Värme"),
        "Consulting": listed("* Konsult, * Redovisning, * & Söner"),
    },
    "da": {
        "Transport": listed("* Vognmandsforretning, * Fragt, * Logistik"),
        "Manufacturing": listed("* Maskinfabrik, * Smedje, * Plast"),
        "Food": listed("* Bageri, * Mejeri, * Bryghus"),
        "Construction": listed("* Byg, * Tømrer, * Tagdækning"),
        "Software": listed("* Software, * Data, * Systemer"),
        "Retail": listed("* Møbler, * Boghandel, * Planteskole"),
        "Health": listed("* Tandklinik, * Medico"),
        "Energy": listed("* Solenergi, * Varme"),
        "Consulting": listed("* Rådgivning, * Revision, * & Sønner"),
    },
}

_HEADS = listed("""Al, Ar, Bel, Bren, Cal, Cor, Dal, Del, El, Fen, Fir, Gal, Gor, Hal, Hel, Il,
Jor, Kal, Kor, Lan, Lor, Lum, Mar, Mer, Nor, Ol, Or, Pal, Per, Quin, Ral, Ren, Sal, Sol, Tal, Tor,
Ul, Val, Ver, Vin, Wes, Xen, Yar, Zel""")
_MIDDLES = listed("""a, ado, amo, ba, da, di, ega, era, eso, gari, ida, ino, ira, lo, ma, mi, na,
no, ora, oro, pa, ra, ri, ro, sta, ta, ti, to, ula, uno, va, vi""")
_TAILS = listed("""bex, dan, dera, dex, dium, gen, kon, lia, line, lix, mark, mera, nia, nix, nor,
num, plan, quest, ra, rion, ris, ron, sta, stad, tec, tek, tera, tis, ton, tra, trix, va, vel, via,
vis, von, xa, zen""")

_LEGAL: dict[str, Odds[str]] = {
    "DE": Odds.of(
        ("GmbH", 55),
        ("GmbH & Co. KG", 17),
        ("e.K.", 9),
        ("AG", 8),
        ("KG", 6),
        ("UG", 5),
    ),
    "AT": Odds.of(("GmbH", 75), ("KG", 13), ("AG", 12)),
    "CH": Odds.of(("AG", 60), ("GmbH", 40)),
    "CH-fr": Odds.of(("SA", 55), ("Sàrl", 45)),
    "CH-it": Odds.of(("SA", 55), ("Sagl", 45)),
    "GB": Odds.of(("Ltd", 82), ("PLC", 10), ("LLP", 8)),
    "IE": Odds.of(("Ltd", 80), ("DAC", 20)),
    "FR": Odds.of(("SARL", 52), ("SAS", 38), ("SA", 10)),
    "NL": Odds.of(("B.V.", 86), ("V.O.F.", 14)),
    "IT": Odds.of(("S.r.l.", 72), ("S.p.A.", 20), ("S.n.c.", 8)),
    "ES": Odds.of(("S.L.", 76), ("S.A.", 24)),
    "PL": Odds.of(("sp. z o.o.", 84), ("S.A.", 16)),
    "SE": Odds.of(("AB", 100)),
    "DK": Odds.of(("ApS", 68), ("A/S", 32)),
}

_INDUSTRY = Odds.of(
    ("Manufacturing", 20),
    ("Construction", 15),
    ("Retail", 15),
    ("Transport", 12),
    ("Software", 11),
    ("Food", 10),
    ("Consulting", 9),
    ("Health", 5),
    ("Energy", 3),
)


class CompanyRegister:
    """Founds companies, no two with the same name or domain unless asked to."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._taken: set[str] = set()

    def found(self, country: str, city: City) -> Company:
        """A new company, named after a family or with a coined word."""
        dice = self._dice
        industry = dice.odds(_INDUSTRY)
        trade = dice.pick(_TRADES[city.language][industry])
        stem = dice.pick(NAMES[city.language].last) if dice.chance(0.5) else self._coined()
        while (domain := _domain(trade.replace("*", stem))) in self._taken:
            stem = self._coined()
        self._taken.add(domain)
        legal = self._legal(country, city)
        return Company(trade.replace("*", stem), legal, industry, f"{domain}.example")

    def lookalike(self, model: Company, country: str, city: City) -> Company:
        """Another company of the same name in another town: only the name is shared."""
        domain = _domain(f"{model.core} {city.name}")
        while domain in self._taken:
            domain += self._dice.pick("abcdefghkmnprstuvw")
        self._taken.add(domain)
        legal = self._legal(country, city)
        return Company(model.core, legal, model.industry, f"{domain}.example")

    def sister(self, model: Company, country: str, city: City) -> Company:
        """A company of the same group: same domain, its own longer name."""
        suffix = self._dice.pick(("Service", "International", "Holding", "Export"))
        legal = self._legal(country, city)
        return Company(f"{model.core} {suffix}", legal, model.industry, model.domain)

    def _legal(self, country: str, city: City) -> str:
        return self._dice.odds(_LEGAL.get(f"{country}-{city.language}", _LEGAL[country]))

    def _coined(self) -> str:
        dice = self._dice
        middle = dice.pick(_MIDDLES) if dice.chance(0.7) else ""
        return dice.pick(_HEADS) + middle + dice.pick(_TAILS)


def _domain(core: str) -> str:
    """The name as it stands before `.example`, a domain reserved so that no mail ever arrives."""
    letters = ascii_spelling(core).lower().replace("&", "und").replace("'", "")
    return "-".join(part for part in letters.replace(".", " ").split() if part)
