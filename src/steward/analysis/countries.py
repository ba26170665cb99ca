"""ISO 3166 countries with the other names people write, and the way from any of them to the country."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

# Official names of most countries are their usual ones with this in front; the exceptions are in the table.
_FORMAL = re.compile(
    r"^(?:[a-z]+ ){0,4}(?:republic|kingdom|principality|commonwealth|sultanate|duchy) of (?:the )?"
)


@dataclass(frozen=True)
class Country:
    alpha2: str
    alpha3: str
    name: str
    others: tuple[str, ...]


def country_of(text: str) -> Country | None:
    """The country that a code or name stands for; None where it is none of the known ones."""
    folded = _folded(text)
    return _index().get(folded) or _index().get(_FORMAL.sub("", folded))


@cache
def alpha2_codes() -> frozenset[str]:
    return frozenset(country.alpha2 for country in _index().values())


@cache
def _index() -> dict[str, Country]:
    index: dict[str, Country] = {}
    for line in _TABLE.strip().splitlines():
        alpha2, alpha3, name, *others = (part.strip() for part in re.split(r"[|;]", line))
        country = Country(alpha2, alpha3, name, tuple(other for other in others if other))
        for spelling in (alpha2, alpha3, name, *country.others):
            index.setdefault(_folded(spelling), country)
    return index


def _folded(text: str) -> str:
    """Without case, accents, punctuation and a leading article."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    plain = plain.replace("&", " and ").replace("ł", "l").replace("ø", "o")
    words = re.findall(r"\w+", re.sub(r"(?<=\b\w)\.(?=\w\b|$|\s)", "", plain))
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)


# Code, code, English name | other names: official and former ones, and those in German, French, Spanish, Italian
# and Dutch for the countries where they are common.
_TABLE = """
AD|AND|Andorra
AE|ARE|United Arab Emirates|UAE;Emirates;Vereinigte Arabische Emirate;Émirats arabes unis;Emiratos Árabes Unidos
AF|AFG|Afghanistan
AG|ATG|Antigua and Barbuda
AI|AIA|Anguilla
AL|ALB|Albania|Albanien;Albanie
AM|ARM|Armenia|Armenien;Arménie
AO|AGO|Angola
AQ|ATA|Antarctica|Antarktis
AR|ARG|Argentina|Argentinien;Argentine;Argentinië
AS|ASM|American Samoa
AT|AUT|Austria|Österreich;Oesterreich;Autriche;Oostenrijk
AU|AUS|Australia|Australien;Australie;Australië
AW|ABW|Aruba
AX|ALA|Åland Islands|Aland;Åland
AZ|AZE|Azerbaijan|Aserbaidschan;Azerbaïdjan
BA|BIH|Bosnia and Herzegovina|Bosnia;Bosnien und Herzegowina;Bosnien;Bosnie-Herzégovine
BB|BRB|Barbados
BD|BGD|Bangladesh|Bangladesch
BE|BEL|Belgium|Belgien;Belgique;België;Belgie;Bélgica;Belgio
BF|BFA|Burkina Faso
BG|BGR|Bulgaria|Bulgarien;Bulgarie;Bulgarije
BH|BHR|Bahrain
BI|BDI|Burundi
BJ|BEN|Benin|Bénin
BL|BLM|Saint Barthélemy|St Barthelemy
BM|BMU|Bermuda
BN|BRN|Brunei Darussalam|Brunei
BO|BOL|Bolivia|Bolivia, Plurinational State of;Plurinational State of Bolivia;Bolivien;Bolivie
BQ|BES|Bonaire, Sint Eustatius and Saba|Bonaire;Caribbean Netherlands
BR|BRA|Brazil|Brasilien;Brésil;Brasil;Brasile;Brazilië
BS|BHS|Bahamas
BT|BTN|Bhutan
BV|BVT|Bouvet Island
BW|BWA|Botswana
BY|BLR|Belarus|Weißrussland;Weissrussland;Biélorussie;Byelorussia
BZ|BLZ|Belize
CA|CAN|Canada|Kanada;Canadá
CC|CCK|Cocos (Keeling) Islands|Cocos Islands;Keeling Islands
CD|COD|Congo, Democratic Republic of the|Democratic Republic of the Congo;Congo, The Democratic Republic of the;DR Congo;DRC;Congo-Kinshasa;Zaire
CF|CAF|Central African Republic
CG|COG|Congo|Republic of the Congo;Congo-Brazzaville
CH|CHE|Switzerland|Schweiz;Suisse;Svizzera;Suiza;Zwitserland;Swiss Confederation
CI|CIV|Côte d'Ivoire|Ivory Coast;Elfenbeinküste
CK|COK|Cook Islands
CL|CHL|Chile|Chili
CM|CMR|Cameroon|Kamerun;Cameroun
CN|CHN|China|People's Republic of China;PR China;PRC;Mainland China;Chine;Cina
CO|COL|Colombia|Kolumbien;Colombie
CR|CRI|Costa Rica
CU|CUB|Cuba|Kuba
CV|CPV|Cabo Verde|Cape Verde;Kap Verde
CW|CUW|Curaçao|Curacao
CX|CXR|Christmas Island
CY|CYP|Cyprus|Zypern;Chypre;Chipre;Cipro
CZ|CZE|Czechia|Czech Republic;Tschechien;Tschechische Republik;République tchèque;Tchéquie;Česko;Česká republika;Repubblica Ceca;Tsjechië
DE|DEU|Germany|Deutschland;GER;Allemagne;Alemania;Germania;Duitsland;Federal Republic of Germany;Bundesrepublik Deutschland;BRD;FRG;Niemcy;Tyskland
DJ|DJI|Djibouti|Dschibuti
DK|DNK|Denmark|Dänemark;Daenemark;DEN;Danemark;Dinamarca;Danimarca;Denemarken;Danmark
DM|DMA|Dominica
DO|DOM|Dominican Republic|Dominikanische Republik;República Dominicana
DZ|DZA|Algeria|Algerien;Algérie
EC|ECU|Ecuador
EE|EST|Estonia|Estland;Estonie;Eesti
EG|EGY|Egypt|Ägypten;Égypte;Egipto;Egitto
EH|ESH|Western Sahara
ER|ERI|Eritrea
ES|ESP|Spain|Spanien;España;Espana;Espagne;Spagna;Spanje;Kingdom of Spain
ET|ETH|Ethiopia|Äthiopien;Éthiopie
FI|FIN|Finland|Finnland;Finlande;Suomi;Finlandia
FJ|FJI|Fiji|Fidschi
FK|FLK|Falkland Islands (Malvinas)|Falkland Islands;Malvinas
FM|FSM|Micronesia, Federated States of|Micronesia;Federated States of Micronesia
FO|FRO|Faroe Islands|Faroes;Färöer;Føroyar
FR|FRA|France|Frankreich;Francia;Frankrijk;French Republic;République française
GA|GAB|Gabon|Gabun
GB|GBR|United Kingdom|UK;U.K.;Great Britain;Britain;GB;England;Scotland;Wales;Northern Ireland;United Kingdom of Great Britain and Northern Ireland;Großbritannien;Grossbritannien;Vereinigtes Königreich;Royaume-Uni;Reino Unido;Regno Unito;Verenigd Koninkrijk;Grande-Bretagne
GD|GRD|Grenada
GE|GEO|Georgia|Georgien;Géorgie
GF|GUF|French Guiana
GG|GGY|Guernsey
GH|GHA|Ghana
GI|GIB|Gibraltar
GL|GRL|Greenland|Grönland;Groenland
GM|GMB|Gambia
GN|GIN|Guinea|Guinée
GP|GLP|Guadeloupe
GQ|GNQ|Equatorial Guinea
GR|GRC|Greece|Griechenland;Grèce;Grecia;Griekenland;Hellas;Hellenic Republic
GS|SGS|South Georgia and the South Sandwich Islands
GT|GTM|Guatemala
GU|GUM|Guam
GW|GNB|Guinea-Bissau
GY|GUY|Guyana
HK|HKG|Hong Kong|Hongkong;Hong Kong SAR
HM|HMD|Heard Island and McDonald Islands
HN|HND|Honduras
HR|HRV|Croatia|Kroatien;Hrvatska;Croatie;Croacia;Croazia;Kroatië
HT|HTI|Haiti|Haïti
HU|HUN|Hungary|Ungarn;Hongrie;Hungría;Ungheria;Hongarije;Magyarország
ID|IDN|Indonesia|Indonesien;Indonésie;Indonesië
IE|IRL|Ireland|Irland;Irlande;Irlanda;Ierland;Republic of Ireland;Éire;Eire
IL|ISR|Israel|Israël
IM|IMN|Isle of Man
IN|IND|India|Indien;Inde
IO|IOT|British Indian Ocean Territory
IQ|IRQ|Iraq|Irak
IR|IRN|Iran|Iran, Islamic Republic of;Islamic Republic of Iran;Persia
IS|ISL|Iceland|Island;Islande;Islandia;IJsland
IT|ITA|Italy|Italien;Italia;Italie;Italië;Italian Republic
JE|JEY|Jersey
JM|JAM|Jamaica|Jamaika
JO|JOR|Jordan|Jordanien;Jordanie
JP|JPN|Japan|Japon;Japón;Giappone
KE|KEN|Kenya|Kenia
KG|KGZ|Kyrgyzstan|Kirgisistan;Kyrgyz Republic
KH|KHM|Cambodia|Kambodscha;Cambodge
KI|KIR|Kiribati
KM|COM|Comoros
KN|KNA|Saint Kitts and Nevis|St Kitts and Nevis
KP|PRK|North Korea|Korea, Democratic People's Republic of;Democratic People's Republic of Korea;DPRK;Nordkorea
KR|KOR|South Korea|Korea, Republic of;Republic of Korea;Korea;Südkorea;Suedkorea;Corée du Sud;Corea del Sur;Corea del Sud;Zuid-Korea
KW|KWT|Kuwait
KY|CYM|Cayman Islands
KZ|KAZ|Kazakhstan|Kasachstan
LA|LAO|Laos|Lao People's Democratic Republic;Lao PDR
LB|LBN|Lebanon|Libanon;Liban
LC|LCA|Saint Lucia|St Lucia
LI|LIE|Liechtenstein
LK|LKA|Sri Lanka|Ceylon
LR|LBR|Liberia
LS|LSO|Lesotho
LT|LTU|Lithuania|Litauen;Lituanie;Lituania;Litouwen;Lietuva
LU|LUX|Luxembourg|Luxemburg;Luxemburgo;Lussemburgo
LV|LVA|Latvia|Lettland;Lettonie;Letonia;Lettonia;Letland;Latvija
LY|LBY|Libya|Libyen
MA|MAR|Morocco|Marokko;Maroc;Marruecos;Marocco
MC|MCO|Monaco
MD|MDA|Moldova|Moldova, Republic of;Republic of Moldova;Moldau;Moldawien
ME|MNE|Montenegro
MF|MAF|Saint Martin (French part)|Saint Martin;St Martin
MG|MDG|Madagascar|Madagaskar
MH|MHL|Marshall Islands
MK|MKD|North Macedonia|Macedonia;Nordmazedonien;Mazedonien;FYROM
ML|MLI|Mali
MM|MMR|Myanmar|Burma
MN|MNG|Mongolia|Mongolei
MO|MAC|Macao|Macau
MP|MNP|Northern Mariana Islands
MQ|MTQ|Martinique
MR|MRT|Mauritania
MS|MSR|Montserrat
MT|MLT|Malta|Malte
MU|MUS|Mauritius
MV|MDV|Maldives|Malediven
MW|MWI|Malawi
MX|MEX|Mexico|Mexiko;Mexique;México;Messico
MY|MYS|Malaysia|Malaisie
MZ|MOZ|Mozambique|Mosambik
NA|NAM|Namibia
NC|NCL|New Caledonia
NE|NER|Niger
NF|NFK|Norfolk Island
NG|NGA|Nigeria
NI|NIC|Nicaragua
NL|NLD|Netherlands|Niederlande;Holland;Nederland;Pays-Bas;Países Bajos;Paesi Bassi;NED;Kingdom of the Netherlands
NO|NOR|Norway|Norwegen;Norvège;Noruega;Norvegia;Noorwegen;Norge
NP|NPL|Nepal|Népal
NR|NRU|Nauru
NU|NIU|Niue
NZ|NZL|New Zealand|Neuseeland;Nouvelle-Zélande;Aotearoa
OM|OMN|Oman
PA|PAN|Panama|Panamá
PE|PER|Peru|Pérou;Perú
PF|PYF|French Polynesia
PG|PNG|Papua New Guinea|Papua-Neuguinea
PH|PHL|Philippines|Philippinen;Filipinas
PK|PAK|Pakistan
PL|POL|Poland|Polen;Pologne;Polonia;Polska
PM|SPM|Saint Pierre and Miquelon|St Pierre and Miquelon
PN|PCN|Pitcairn|Pitcairn Islands
PR|PRI|Puerto Rico
PS|PSE|Palestine, State of|Palestine;State of Palestine;Palästina
PT|PRT|Portugal|POR;Portogallo;Portuguese Republic
PW|PLW|Palau
PY|PRY|Paraguay
QA|QAT|Qatar|Katar
RE|REU|Réunion
RO|ROU|Romania|Rumänien;Roumanie;Rumania;Roemenië;Rumania
RS|SRB|Serbia|Serbien;Serbie;Srbija
RU|RUS|Russian Federation|Russia;Russland;Russie;Rusia;Rusland
RW|RWA|Rwanda|Ruanda
SA|SAU|Saudi Arabia|Saudi-Arabien;KSA;Arabie saoudite;Arabia Saudita
SB|SLB|Solomon Islands
SC|SYC|Seychelles|Seychellen
SD|SDN|Sudan
SE|SWE|Sweden|Schweden;Suède;Suecia;Svezia;Zweden;Sverige
SG|SGP|Singapore|Singapur;Singapour
SH|SHN|Saint Helena, Ascension and Tristan da Cunha|Saint Helena;St Helena
SI|SVN|Slovenia|Slowenien;Slovénie;Eslovenia;Slovenië;Slovenija
SJ|SJM|Svalbard and Jan Mayen
SK|SVK|Slovakia|Slowakei;Slovaquie;Eslovaquia;Slovacchia;Slowakije;Slovensko;Slovak Republic
SL|SLE|Sierra Leone
SM|SMR|San Marino
SN|SEN|Senegal|Sénégal
SO|SOM|Somalia
SR|SUR|Suriname|Surinam
SS|SSD|South Sudan|Südsudan
ST|STP|Sao Tome and Principe|São Tomé and Príncipe
SV|SLV|El Salvador
SX|SXM|Sint Maarten (Dutch part)|Sint Maarten
SY|SYR|Syrian Arab Republic|Syria;Syrien
SZ|SWZ|Eswatini|Swaziland
TC|TCA|Turks and Caicos Islands
TD|TCD|Chad|Tschad;Tchad
TF|ATF|French Southern Territories
TG|TGO|Togo
TH|THA|Thailand|Thaïlande
TJ|TJK|Tajikistan|Tadschikistan
TK|TKL|Tokelau
TL|TLS|Timor-Leste|East Timor
TM|TKM|Turkmenistan
TN|TUN|Tunisia|Tunesien;Tunisie;Túnez
TO|TON|Tonga
TR|TUR|Türkiye|Turkey;Türkei;Tuerkei;Turquie;Turquía;Turchia;Turkije
TT|TTO|Trinidad and Tobago|Trinidad
TV|TUV|Tuvalu
TW|TWN|Taiwan|Taiwan, Province of China;Republic of China;Taiwan R.O.C.
TZ|TZA|Tanzania|Tanzania, United Republic of;United Republic of Tanzania;Tansania
UA|UKR|Ukraine|Ucrania;Ucraina;Oekraïne
UG|UGA|Uganda
UM|UMI|United States Minor Outlying Islands
US|USA|United States|USA;U.S.A.;U.S.;United States of America;America;Vereinigte Staaten;Vereinigte Staaten von Amerika;États-Unis;Etats-Unis;Estados Unidos;EE.UU.;Stati Uniti;Verenigde Staten
UY|URY|Uruguay
UZ|UZB|Uzbekistan|Usbekistan
VA|VAT|Holy See (Vatican City State)|Vatican;Holy See;Vatican City;Vatikan;Vatikanstadt
VC|VCT|Saint Vincent and the Grenadines|St Vincent and the Grenadines
VE|VEN|Venezuela|Venezuela, Bolivarian Republic of;Bolivarian Republic of Venezuela
VG|VGB|Virgin Islands, British|British Virgin Islands
VI|VIR|Virgin Islands, U.S.|US Virgin Islands
VN|VNM|Viet Nam|Vietnam
VU|VUT|Vanuatu
WF|WLF|Wallis and Futuna
WS|WSM|Samoa
YE|YEM|Yemen|Jemen
YT|MYT|Mayotte
ZA|ZAF|South Africa|Südafrika;Suedafrika;RSA;Afrique du Sud;Sudáfrica;Sudafrica;Zuid-Afrika
ZM|ZMB|Zambia|Sambia
ZW|ZWE|Zimbabwe|Simbabwe
"""
