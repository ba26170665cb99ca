"""Words the cleaning steps know: legal forms, titles, street words, free mail hosts, countries."""

LEGAL_FORMS: tuple[str, ...] = (
    *("gmbh co kgaa", "gmbh co kg", "gmbh co ohg", "ag co kg", "ug co kg", "se co kg"),
    *("ggmbh", "gesmbh", "ges mbh", "gmbh", "g m b h", "mbh", "ug haftungsbeschrankt", "ug"),
    *("aktiengesellschaft", "kommanditgesellschaft", "ag", "a g", "kgaa", "kg", "k g", "ohg"),
    *("gbr", "ek", "e k", "ev", "e v", "eg", "e g", "se", "kft", "zrt", "nyrt", "bt"),
    *("limited liability company", "limited", "ltd", "llc", "llp", "l l p", "lp", "plc", "p l c"),
    *("public limited company", "dac", "d a c", "clg", "incorporated", "inc", "corporation"),
    *("corp", "company", "co", "pty", "pte", "pvt", "private"),
    *("sarl", "s a r l", "sasu", "sas", "s a s", "eurl", "snc", "s n c", "sca", "sci", "sa"),
    *("s a", "selarl", "societe anonyme"),
    *("bv", "b v", "nv", "n v", "vof", "v o f", "cv", "c v", "bvba", "besloten vennootschap"),
    *("srls", "srl", "s r l", "spa", "s p a", "sapa", "ss", "sas di"),
    *("slu", "slne", "sl", "s l", "sau", "sll", "sociedad limitada", "sociedad anonima"),
    *("sp z o o", "sp z oo", "sp zoo", "spolka z o o", "sp j", "sp k", "spj", "spk"),
    *("aktiebolag", "aktiebolaget", "ab", "a b", "hb", "aps", "a p s", "as", "a s", "asa"),
    *("oy", "oyj", "ky", "tmi", "doo", "d o o", "sro", "s r o", "ltda", "lda", "unipessoal"),
)

CONNECTORS: tuple[str, ...] = ("and", "und", "et", "e", "y", "en", "i", "och", "og", "the")

TITLES: tuple[str, ...] = (
    *("mr", "mrs", "ms", "miss", "mister", "dr", "prof", "sir", "herr", "hr", "frau", "fr"),
    *("dipl", "ing", "mag", "med", "phil", "jr", "sr", "mme", "mlle", "m", "sig", "dott"),
    *("dhr", "mevr", "pan", "pani", "esq", "phd", "msc", "mba"),
)

# Written forms of one word; the first is the one they become. Matched as whole words.
STREET_WORDS: tuple[tuple[str, ...], ...] = (
    ("str", "strasse", "straat", "strase"),
    ("st", "street", "saint", "sankt"),
    ("rd", "road"),
    ("ln", "lane"),
    ("av", "avenue", "ave", "avenida", "avda", "avd"),
    ("bd", "boulevard", "blvd", "boul"),
    ("pl", "place", "platz", "plaza", "pza", "piazza", "plac", "plein"),
    ("sq", "square"),
    ("dr", "drive"),
    ("ct", "court", "crt"),
    ("cr", "crescent", "cres", "cresent"),
    ("cct", "circuit", "circt"),
    ("tce", "terrace", "ter", "terr"),
    ("hwy", "highway"),
    ("pde", "parade"),
    ("cl", "close"),
    ("c", "calle"),
    ("vl", "viale", "vle"),
    ("v", "via"),
    ("ch", "chemin", "che"),
    ("rte", "route"),
    ("imp", "impasse"),
    ("ps", "paseo", "po"),
    ("no", "nr", "num", "numero"),
    ("apt", "apartment", "flat", "unit"),
)

# Endings of compound street names, long form to short.
STREET_ENDINGS: tuple[tuple[str, str], ...] = (
    ("strasse", "str"),
    ("straat", "str"),
    ("platz", "pl"),
    ("plein", "pl"),
    ("gatan", "g"),
    ("gata", "g"),
)

# Words before a street name that carry nothing.
STREET_FILLERS: tuple[str, ...] = ("ul", "al", "os")

FREE_MAIL: tuple[str, ...] = (
    *("gmail.com", "googlemail.com", "yahoo.com", "yahoo.co.uk", "yahoo.fr", "yahoo.de"),
    *("hotmail.com", "hotmail.co.uk", "hotmail.fr", "hotmail.de", "hotmail.it", "outlook.com"),
    *("outlook.de", "outlook.fr", "live.com", "live.co.uk", "live.fr", "msn.com", "icloud.com"),
    *("me.com", "mac.com", "aol.com", "gmx.de", "gmx.net", "gmx.at", "gmx.ch", "gmx.com"),
    *("web.de", "t-online.de", "freenet.de", "arcor.de", "mail.com", "mail.ru", "yandex.ru"),
    *("protonmail.com", "proton.me", "pm.me", "zoho.com", "fastmail.com", "orange.fr"),
    *("wanadoo.fr", "free.fr", "laposte.net", "sfr.fr", "libero.it", "tiscali.it", "alice.it"),
    *("virgilio.it", "telefonica.net", "terra.es", "wp.pl", "onet.pl", "o2.pl", "interia.pl"),
    *("ziggo.nl", "kpnmail.nl", "planet.nl", "bluewin.ch", "telia.com", "btinternet.com"),
    *("sky.com", "comcast.net", "verizon.net", "att.net", "qq.com", "163.com", "126.com"),
)

PLACEHOLDERS: tuple[str, ...] = (
    *("n/a", "na", "n.a.", "nan", "null", "none", "nil", "-", "--", "---", ".", "..", "?", "??"),
    *("unknown", "unbekannt", "inconnu", "tbd", "tbc", "k.a.", "keine angabe", "not available"),
    *("not applicable", "xxx", "x", "test", "dummy", "#n/a", "(null)", "(none)", "missing"),
)

# ISO 3166 alpha-2 with other spellings, in plain small letters.
COUNTRIES: dict[str, tuple[str, ...]] = {
    "ar": ("arg", "argentina", "argentinien"),
    "at": ("aut", "austria", "osterreich", "oesterreich", "autriche", "a"),
    "au": ("aus", "australia", "australien"),
    "be": ("bel", "belgium", "belgien", "belgique", "belgie"),
    "bg": ("bgr", "bulgaria", "bulgarien"),
    "br": ("bra", "brazil", "brasil", "brasilien"),
    "ca": ("can", "canada", "kanada"),
    "ch": ("che", "switzerland", "schweiz", "suisse", "svizzera"),
    "cn": ("chn", "china"),
    "cz": ("cze", "czechia", "czech republic", "tschechien", "cesko"),
    "de": ("deu", "ger", "germany", "deutschland", "allemagne", "alemania", "d", "brd"),
    "dk": ("dnk", "denmark", "danmark", "danemark"),
    "ee": ("est", "estonia", "estland"),
    "es": ("esp", "spain", "spanien", "espana", "espagne"),
    "fi": ("fin", "finland", "finnland", "suomi"),
    "fr": ("fra", "france", "frankreich", "francia", "f"),
    "gb": ("gbr", "uk", "united kingdom", "great britain", "england", "scotland", "wales"),
    "gr": ("grc", "greece", "griechenland"),
    "hr": ("hrv", "croatia", "kroatien", "hrvatska"),
    "hu": ("hun", "hungary", "ungarn", "magyarorszag"),
    "ie": ("irl", "ireland", "irland", "eire", "republic of ireland"),
    "in": ("ind", "india", "indien"),
    "it": ("ita", "italy", "italien", "italia", "italie", "i"),
    "jp": ("jpn", "japan"),
    "lt": ("ltu", "lithuania", "litauen"),
    "lu": ("lux", "luxembourg", "luxemburg"),
    "lv": ("lva", "latvia", "lettland"),
    "mx": ("mex", "mexico", "mexiko"),
    "nl": ("nld", "netherlands", "the netherlands", "niederlande", "nederland", "holland"),
    "no": ("nor", "norway", "norwegen", "norge"),
    "nz": ("nzl", "new zealand", "neuseeland"),
    "pl": ("pol", "poland", "polen", "polska", "pologne"),
    "pt": ("prt", "portugal"),
    "ro": ("rou", "romania", "rumanien"),
    "rs": ("srb", "serbia", "serbien"),
    "se": ("swe", "sweden", "schweden", "sverige", "suede"),
    "si": ("svn", "slovenia", "slowenien"),
    "sk": ("svk", "slovakia", "slowakei"),
    "tr": ("tur", "turkey", "turkei", "turkiye"),
    "ua": ("ukr", "ukraine"),
    "us": (
        "usa",
        "united states",
        "united states of america",
        "america",
        "u s a",
        "vereinigte staaten",
    ),
    "za": ("zaf", "south africa", "sudafrika"),
}
