"""The words of English that say how, not what: the only closed list there is. Everything else must be found in definitions or data."""

from functools import cache
from typing import Final, NamedTuple

from steward.agents.asking.tokens import name_words, plain


class Mark(NamedTuple):
    """What a phrase does in a question."""

    kind: str
    argument: str = ""


_PHRASES: Final[dict[Mark, str]] = {
    Mark("function", "sum"): "total | sum | combined",
    Mark("function", "avg"): "average | mean | avg | on average",
    Mark("function", "median"): "median",
    Mark("function", "stddev"): "standard deviation | std dev | stddev | std | standard dev",
    Mark("functions", "min max"): "range of | range",
    Mark("function", "min"): "minimum | min",
    Mark("function", "max"): "maximum | max",
    Mark("in all"): "in total | altogether | overall | in all",
    Mark("how much"): "how much",
    Mark("count"): "how many | number of | count of | count | how often | how many times | counts of | the number of | quantity of",
    Mark("distinct"): "distinct | different | unique | various | separate",
    Mark("share"): "share | percentage | percent | proportion | fraction | % | share in percent | share in % | percentages | portion | in percent | as percentages | in % | as a percentage",
    Mark("by"): "by | per | for each | for every | each | every | in each | broken down by | split by | grouped by | group by | across | within each | of each | in every | break down by | segmented by | for the different",
    Mark("compare", ">"): "more than | over | above | greater than | larger than | higher than | bigger than | exceeding | exceed | exceeds | longer than | heavier than | older than | taller than | > | better than | bigger then | more then | greater then | exceeded",
    Mark("compare", "<"): "less than | under | below | fewer than | lower than | smaller than | shorter than | lighter than | younger than | cheaper than | < | worse than | less then | fewer then",
    Mark("compare", ">="): "at least | no less than | not less than | >= | minimum of | no fewer than",
    Mark("compare", "<="): "at most | up to | no more than | not more than | <= | maximum of",
    Mark("or more", ">="): "or more | or above | or higher | or over | or greater | or longer | and above | and over | and more",
    Mark("or more", "<="): "or less | or fewer | or below | or lower | or under | or smaller | and below",
    Mark("compare", "="): "= | exactly | equal to | equals",
    Mark("compare", "!="): "!= | <> | not equal to",
    Mark("between"): "between",
    Mark("contains", "contains"): "containing | contains | contain | whose name contains | with the word | including the word",
    Mark("contains", "starts with"): "starting with | starts with | start with | beginning with | begins with | begin with",
    Mark("contains", "ends with"): "ending with | ends with | end with | ending in | ends in",
    Mark("not"): "not | never | except | except for | excluding | without | other than | apart from | but not | no | non | isn't | aren't | wasn't | weren't | don't | doesn't | didn't | exclude | leaving out | outside | outside of | have no | has no | do not have | does not have",
    Mark("empty"): "missing | empty | null | blank | unknown | not known | no value | na | not available | not recorded | is missing | are missing",
    Mark("filled"): "not missing | not empty | not null | not blank | filled in | filled | known | non null",
    Mark("combined", "-"): "difference between | difference of | gap between | spread between",
    Mark("combined", "/"): "ratio of | ratio between",
    Mark("minus", "-"): "minus",
    Mark("minus", "/"): "divided by",
    Mark("and"): "and | plus | as well as | together with",
    Mark("or"): "or | either | nor",
    Mark("times", "1"): "once | one time",
    Mark("times", "2"): "twice | two times",
    Mark("times", ""): "times",
    Mark("unit", "year"): "year | calendar year",
    Mark("unit", "quarter"): "quarter",
    Mark("unit", "month"): "month | calendar month",
    Mark("unit", "week"): "week",
    Mark("unit", "day"): "day | date",
    Mark("unit", "hour"): "hour",
    Mark("part", "weekday"): "weekday | day of the week | day of week | days of the week | week day",
    Mark("part", "month of the year"): "month of the year | month of year | months of the year",
    Mark("part", "hour of the day"): "hour of the day | hour of day | time of day | time of the day | hours of the day",
    Mark("each", "year"): "yearly | annual | annually | year by year | year on year",
    Mark("each", "quarter"): "quarterly",
    Mark("each", "month"): "monthly | month by month",
    Mark("each", "week"): "weekly",
    Mark("each", "day"): "daily | day by day",
    Mark("each", "hour"): "hourly",
    Mark("over time"): "over time | trend | development of | evolution of | over the years | through time | trend of | trends",
    Mark("most", "desc"): "highest | largest | biggest | greatest | most | maximal | top | best | leading",
    Mark("most", "asc"): "lowest | smallest | least | fewest | minimal | bottom | worst",
    Mark("more", "desc"): "more | higher | larger | bigger | greater | better",
    Mark("more", "asc"): "less | fewer | lower | smaller | worse",
    Mark("frequent", "desc"): "most common | most frequent | commonest | most often | most popular | most commonly",
    Mark("frequent", "asc"): "least common | rarest | least frequent | least popular",
    Mark("first"): "first",
    Mark("time end", "desc"): "latest | newest | most recent | last",
    Mark("time end", "asc"): "earliest | oldest",
    Mark("chart", "bar"): "bar chart | bar graph | column chart | bars | bar plot | barchart",
    Mark("chart", "line"): "line chart | line graph | line plot | curve | linechart",
    Mark("chart", "area"): "area chart | area graph",
    Mark("chart", "pie"): "pie chart | pie | donut chart | doughnut chart | piechart",
    Mark("chart", "scatter"): "scatter plot | scatterplot | scatter chart | scatter",
    Mark("chart", "histogram"): "histogram | distribution of | histogram of | distribution",
    Mark("chart", "box"): "box plot | boxplot",
    Mark("chart", "heatmap"): "heat map | heatmap",
    Mark("chart", "none"): "as a table | as table | without chart | no chart",
    Mark("chart", "auto"): "chart | plot | graph | draw | visualise | visualize | diagram | as a chart | a chart of",
    Mark("order"): "sorted by | sort by | order by | ordered by | ranked by | rank by | sort them by | sort | sorted | ordered | rank",
    Mark("direction", "desc"): "descending | desc | in descending order | from highest to lowest | high to low",
    Mark("direction", "asc"): "ascending | asc | in ascending order | from lowest to highest | low to high",
    Mark("direction", "a to z"): "alphabetically",
    Mark("direction", "other"): "reverse | other way round | other way around",
    Mark("rows"): "show | list | display | give me | show me | list all | look at | print | get | view | preview | see | tell me | find | everything about | let me see | fetch | return | give",
    Mark("rows of"): "row | rows | record | records | entries | observation | observations | data points | details | rows of | line items | detail | individual rows | drill down into | the rows",
    Mark("which"): "which | what | who | whose | where | when",
    Mark("contrast"): "compare | comparison of | versus | vs | compared to | compared with | against | comparison between",
    Mark("running"): "running total | cumulative | cumulated | running",
    Mark("change"): "difference to the previous | change to the previous | compared to the previous | change from the previous | growth over the previous | change over the previous",
    Mark("those"): "those | them | these | they | of those | of them | of these",
    Mark("those", "their"): "their",
    Mark("those", "same"): "same | the same",
    Mark("it"): "that | it | the result | its",
    Mark("also"): "also | additionally | as well | too | in addition | further | add",
    Mark("instead"): "instead | rather",
    Mark("only"): "only | just | restrict to | limit to | filter",
    Mark("again"): "again | now | then | but | ok | okay | what about | how about | same for | and what about | same but",
    Mark("all"): "all | any",
    Mark("no filter"): "remove that filter | remove the filter | without filter | no filter | remove filters | drop the filter | remove all filters | everything",
    Mark("ever"): "all years | all time | ever | for all years | all dates | any time | all months",
    Mark("page", "next"): "next page | show more | next | continue | go on",
    Mark("page", "all"): "all of them | show all | all rows | without limit | no limit | the whole list | show all of them",
    Mark("shift", "year"): "the year before | a year earlier | previous year | one year before | year before",
    Mark("shift", "month"): "the month before | a month earlier | one month before",
    Mark("shift", "quarter"): "the quarter before | a quarter earlier",
}  # fmt: skip
_SILENT: Final = """
    a an the of to in on at for from with is are was were be been being am do does did done have has had having there here
    me my our your us we i you he she please can could would will shall should may might must let lets want need like know
    as into out up so if this than whose whom within during made make makes making give gives given per
    values value data dataset file table column field much many some such s 's t re ll d hi hello thanks thank about it's what's who's
    exist exists belong belongs contain include includes including appear appears occur occurs occurred happen happened
    happens all whole entire ever far currently question answer calculate compute tell find get say information
    come comes came coming one ones observed recorded possible listed reported live lives lived living respectively were'nt did you're i'd i'm we've i've doing did go going
"""
"""Words that restrict nothing."""
ADJECTIVES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "expensive": ("desc", ("price", "cost", "fare")),
    "priciest": ("desc", ("price", "cost")),
    "youngest": ("asc", ("age",)),
    "cheapest": ("asc", ("price", "cost", "fare")),
    "cheap": ("asc", ("price", "cost", "fare")),
    "heaviest": ("desc", ("weight", "mass")),
    "heavy": ("desc", ("weight", "mass")),
    "lightest": ("asc", ("weight", "mass")),
    "longest": ("desc", ("length", "duration", "distance", "runtime", "time")),
    "shortest": ("asc", ("length", "duration", "distance", "runtime", "time")),
    "farthest": ("desc", ("distance",)),
    "furthest": ("desc", ("distance",)),
    "tallest": ("desc", ("height",)),
    "hottest": ("desc", ("temperature",)),
    "warmest": ("desc", ("temperature",)),
    "coldest": ("asc", ("temperature",)),
    "fastest": ("desc", ("speed",)),
    "slowest": ("asc", ("speed",)),
    "populous": ("desc", ("population",)),
    "populated": ("desc", ("population",)),
    "richest": ("desc", ("income", "wealth", "gdp")),
    "windiest": ("desc", ("wind",)),
    "rainiest": ("desc", ("precipitation", "rain")),
    "wettest": ("desc", ("precipitation", "rain")),
}
"""Adjectives that speak of a quantity, with what it can be called; they count only where one column is called so."""
MADE: Final = frozenset(
    [
        "sold",
        "bought",
        "flown",
        "flew",
        "made",
        "built",
        "produced",
        "released",
        "placed",
        "issued",
        "leaving",
        "departing",
        "operated",
        "published",
        "written",
        "directed",
        "manufactured",
        "played",
        "given",
        "found",
        "located",
        "registered",
    ]
)
"""Verbs that say no more than that a row exists, where they lead to a condition: flown by, sold in, found on."""
SILENT: Final = frozenset(plain(word) for word in _SILENT.split()) | frozenset(_SILENT.split())


@cache
def phrases() -> dict[tuple[str, ...], Mark]:
    found: dict[tuple[str, ...], Mark] = {}
    for mark, several in _PHRASES.items():
        for phrase in several.split(" | "):
            found.setdefault(name_words(phrase), mark)
    return found


@cache
def longest_phrase() -> int:
    return max(map(len, phrases()))


@cache
def vocabulary() -> frozenset[str]:
    """Words of the grammar that can be misspelled."""
    words = {word for phrase in phrases() for word in phrase} | set(ADJECTIVES)
    return frozenset(word for word in words if len(word) > 4)
