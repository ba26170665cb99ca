"""Street addresses and telephone numbers as they look in each country."""

from dataclasses import dataclass

from scripts.samples.countries import City, Country
from scripts.samples.dice import Dice
from scripts.samples.names import listed


@dataclass(frozen=True, slots=True)
class Address:
    """Street with number, town and postcode."""

    street: str
    city: City
    postcode: str


@dataclass(frozen=True, slots=True)
class Phone:
    """A telephone number by its parts; `trunk` is what callers inside the country put first."""

    dial: str
    trunk: str
    area: str
    line: str


STREETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "de": (
        "{street} {number}",
        listed("""Ahornweg, Am Alten Hafen, Am Mühlbach, An der Stadtmauer, Bahnhofstraße,
        Bergstraße, Birkenweg, Brückenstraße, Buchenallee, Dorfstraße, Färbergasse, Gartenstraße,
        Gerberstraße, Goethestraße, Hafenstraße, Hauptstraße, Im Gewerbepark, Industriestraße,
        Kirchplatz, Kirchstraße, Königsallee, Lindenallee, Marktplatz, Mühlenweg, Parkstraße,
        Poststraße, Rathausplatz, Ringstraße, Rosenweg, Schillerstraße, Schloßstraße, Schulstraße,
        Seestraße, Sonnenweg, Uferstraße, Waldstraße, Weinbergstraße, Werkstraße, Wiesenweg"""),
    ),
    "en": (
        "{number} {street}",
        listed("""Abbey Road, Albert Street, Bridge Street, Canal Street, Castle Street,
        Church Lane, Commercial Road, Dock Road, Foundry Lane, George Street, Grange Road,
        Green Lane, Harbour Way, High Street, King Street, Kingsway, London Road, Manor Road,
        Market Place, Meadow Lane, Mill Lane, New Road, Park Avenue, Priory Road, Queen Street,
        Quay Street, Riverside Drive, Station Road, Victoria Road, Warehouse Lane, York Road"""),
    ),
    "fr": (
        "{number} {street}",
        listed("""avenue des Tilleuls, avenue Jean Jaurès, avenue Victor Hugo,
        boulevard de la Liberté, boulevard Gambetta, boulevard Voltaire, chemin du Moulin,
        impasse des Lilas, place de la Mairie, place du Marché, quai des Tanneurs,
        route de la Forêt, rue de l'Église, rue de la Gare, rue de la République, rue des Écoles,
        rue des Jardins, rue du Château, rue Lafayette, rue Pasteur, rue Saint-Michel"""),
    ),
    "nl": (
        "{street} {number}",
        listed("""Beukenlaan, Brugstraat, Dorpsstraat, Eikenlaan, Havenkade, Herengracht,
        Industrieweg, Kanaalweg, Kerkstraat, Koningin Wilhelminaplein, Lindelaan, Marktstraat,
        Molenweg, Nieuwstraat, Parallelweg, Prinsengracht, Schoolstraat, Spoorlaan,
        Stationsplein, Stationsweg, Voorstraat, Wilgenlaan, Zuiderdijk"""),
    ),
    "it": (
        "{street} {number}",
        listed("""Corso Garibaldi, Corso Italia, Largo Augusto, Piazza del Duomo, Piazza San Marco,
        Via Aurelia, Via Cavour, Via dei Mille, Via dell'Industria, Via della Repubblica,
        Via Dante Alighieri, Via del Porto, Via Giuseppe Verdi, Via Guglielmo Marconi, Via Mazzini,
        Via Nazionale, Via Roma, Via Torino, Viale della Libertà, Viale Europa"""),
    ),
    "es": (
        "{street}, {number}",
        listed("""Avenida de América, Avenida de la Constitución, Avenida del Puerto,
        Calle de Alcalá, Calle de la Luna, Calle del Carmen, Calle Goya, Calle Mayor, Calle Nueva,
        Calle Real, Calle San José, Calle Sevilla, Paseo de Gracia, Paseo Marítimo,
        Plaza de España, Plaza Mayor, Ronda de Toledo, Travesía del Molino"""),
    ),
    "pl": (
        "{street} {number}",
        listed("""al. Niepodległości, al. Solidarności, pl. Wolności, ul. Długa, ul. Fabryczna,
        ul. Kościuszki, ul. Krótka, ul. Leśna, ul. Lipowa, ul. Mickiewicza, ul. Ogrodowa,
        ul. Piękna, ul. Polna, ul. Portowa, ul. Słoneczna, ul. Szkolna, ul. Świętojańska,
        ul. Zielona"""),
    ),
    "sv": (
        "{street} {number}",
        listed("""Björkvägen, Drottninggatan, Fabriksgatan, Hamngatan, Industrigatan, Järnvägsgatan,
        Kungsgatan, Kyrkogatan, Nygatan, Skolgatan, Storgatan, Strandvägen, Södra vägen,
        Trädgårdsgatan, Västra Hamngatan, Åsgatan"""),
    ),
    "da": (
        "{street} {number}",
        listed("""Algade, Bredgade, Fabriksvej, Havnegade, Industrivej, Jernbanegade, Kirkevej,
        Kongensgade, Møllevej, Nørregade, Nygade, Skolegade, Skovvej, Strandvejen, Søndergade,
        Vestergade, Østergade"""),
    ),
}


def draw_address(dice: Dice, city: City) -> Address:
    """An address in the town."""
    pattern, streets = STREETS[city.language]
    number = str(1 + int(dice.lognormal(24.0, 0.9)))
    if dice.chance(0.07):
        number += dice.pick("abc")
    street = pattern.format(street=dice.pick(streets), number=number)
    return Address(street, city, dice.fill(city.postcode))


def draw_phone(dice: Dice, country: Country, city: City, mobile_share: float = 0.3) -> Phone:
    """A landline number of the town, or a mobile number of the country."""
    if dice.chance(mobile_share):
        line = dice.fill(country.mobile_line)
        return Phone(country.dial, country.trunk, dice.pick(country.mobile), line)
    return Phone(country.dial, country.trunk, city.area, dice.fill(city.line))
