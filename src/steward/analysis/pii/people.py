"""Short lists of common names of people, as a sign that a text is a name.

Names cannot be recognised for certain without a model. Steward goes by the column's name and by
these lists of its own; a name that is not listed is not found, and every finding says so.
"""

from steward.analysis.pii.hints import words_of

_GIVEN = """
aaron abdul adam adele adrian agnes ahmed aisha akira alan albert alejandro aleksander alex
alexander alexandra alexei alfred ali alice alicia alina alison amanda amelie amina amir amy ana
anastasia anders andrea andreas andrei andrew angela angelina anita ann anna anne annette
anthony antoine anton antonio arjun arthur astrid barbara beatrice ben benjamin bernard bernd
bianca birgit bjorn boris brian bruno camille carl carla carlos carmen carol caroline catherine
cecilia celine charles charlotte chen chloe chris christian christina christine christopher
claire clara claudia colin connor cristina daniel daniela david deborah denise dennis diana
diego dieter dimitri dmitri dominik donald dorothy eduardo edward ekaterina elena eleanor elias
elif elisabeth elizabeth ella ellen emil emily emma enrico eric erik erika ernst esther eva
evelyn fabian fatima felix fernando fiona florian francesca francesco francisco francois frank
franz frederic fredrik friedrich gabriel gabriela gary george georg gerard gerhard giovanni
giulia giuseppe grace graham greta guido gunther gustav hannah hans harry hassan heather
heidi heinz helen helena helga henri henrik henry hiroshi hugo ian ibrahim igor ines ingrid
irene irina iris isabel isabella ivan jack jacob jacques jakob james jan jane janet jason javier
jean jennifer jens jessica joan joao joerg johan johann johanna johannes john jonas jonathan
jordan jorge jose josef joseph joshua juan judith julia julian juliette julie jurgen kai karen
karim karin karl karolina kate katarzyna katharina katherine kathleen katja keiko keith kelly
kenneth kevin khalid kim klaus krzysztof kumar lara lars laura lauren laurent layla lea lena leo
leon leonardo li lily linda lisa liu louis louise luca lucas lucia lucy luis lukas lydia maciej
magdalena manuel marc marcel marco marcus margaret maria mariam marie marina mario marion mark
markus marta martha martin martina mary masato mateusz matteo matthew matthias max maximilian
maya megan mehmet mei melanie michael michal michel michelle miguel mikhail mohamed mohammed
monica monika muhammad mustafa nadia nancy natalia natalie nathan neil nicholas nicola nicolas
nicole nikita nina noah nora olaf oleg olga oliver olivia omar oscar oskar otto pablo pamela
paola paolo patricia patrick paul paula paulo pavel pedro peter petra philip philipp philippe
pierre piotr priya rachel raj rajesh ralf ralph ramon raquel raymond rebecca renate ricardo
richard rita robert roberto robin roger roland roman ronald rosa rose ruth ryan sabine sabrina
salma sam samantha samuel sandra sara sarah sebastian sergei sergio sharon silvia simon simone
sofia sonia sophia sophie stefan stefanie stella stephan stephanie stephen steve steven susan
susanne suzanne sven svetlana sylvia takashi tanja tatiana teresa theo theresa thomas tim
timothy tina tobias tom tomas tomasz tony ulrich ursula uwe valentina valerie vanessa vera
veronica victor victoria viktor vincent vladimir walter wang wei werner wilhelm william wolfgang
xavier yasmin yuki yuri yusuf yves zhang zoe
"""

_FAMILY = """
adams ahmed ali allen andersen anderson bailey baker barbosa bauer becker bell bennett berger
bianchi black brown bruno butler campbell carter castro chan chen clark clarke collins cook
cooper costa cox cruz davies davis diaz dubois dupont durand edwards esposito evans fernandez
ferrari fischer fisher fontaine fuchs garcia gomez gonzalez gray green gupta hall hansen harris
hernandez hill hoffmann horvat hughes huber ivanov jackson jansen jensen johansson johnson jones
kaiser kaminski kelly khan kim king klein koch kowalski kumar larsen laurent lee lefebvre lehmann
leroy lewis li lin lopez martin martinez mayer meier mendes meyer miller mitchell moore morales
moreau moreno morgan morris mueller muller murphy murray nakamura nelson neumann nguyen nielsen
novak nowak oliveira olsen owen parker patel pereira perez peters petersen petrov phillips
pinto popov powell price ramirez ramos reed reyes richter rivera roberts robinson rodriguez
romano rossi roth roux ruiz russo ryan sanchez santos sato schmidt schmitt schneider schulz
schwarz scott sharma silva simon singh smirnov smith sousa stewart suzuki svensson tanaka taylor
thomas thompson torres tran turner vargas vogel wagner walker wang ward watson weber weiss white
williams wilson wolf wood wright wu yamamoto yang young zhang zimmermann
"""

GIVEN_NAMES = frozenset(_GIVEN.split())
FAMILY_NAMES = frozenset(_FAMILY.split())


def looks_like_person(value: str) -> bool:
    """One to four words of letters of which one is a listed given or family name."""
    if not 2 <= len(value) <= 60:
        return False
    words = words_of(value.replace("'", "").replace("-", " ")).split()
    if not 1 <= len(words) <= 4 or any(not word.isalpha() for word in words):
        return False
    if len(words) == 1:
        return words[0] in GIVEN_NAMES or words[0] in FAMILY_NAMES
    return words[0] in GIVEN_NAMES or words[-1] in FAMILY_NAMES or words[-1] in GIVEN_NAMES
