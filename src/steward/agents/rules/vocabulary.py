"""The words the rules know: what people say for a function, a unit of time, a kind of column."""

from typing import Final

SAME: Final = {
    # Words that mean one thing in names of data and in questions.
    "client": "customer",
    "bill": "invoice",
    "nation": "country",
    "mail": "email",
    "telephone": "phone",
    "zip": "postcode",
    "avg": "average",
    "mean": "average",
    "maximum": "max",
    "minimum": "min",
    "qty": "quantity",
    "case": "ticket",
    "item": "product",
    "article": "product",
    "rep": "agent",
    "town": "city",
    "sector": "industry",
    "importance": "priority",
    "urgency": "priority",
    "company": "company",
    "firm": "company",
    "headcount": "employee",
    "%": "percent",
    "percentage": "percent",
    "vs": "versus",
    "staff": "employee",
}

FUNCTIONS: Final[dict[str, tuple[str, ...]]] = {
    # First found wins, so the more special ones stand first.
    "count_distinct": (
        "how many different",
        "how many distinct",
        "how many unique",
        "number of different",
        "number of distinct",
        "number of unique",
        "count of distinct",
        "distinct",
        "count unique",
    ),
    "median": ("median",),
    "avg": ("average", "on average", "typical"),
    "count": ("how many", "number of", "count of", "count", "how often", "many"),
    "sum": ("total", "sum of", "sum", "overall", "add up", "altogether", "how much"),
    "max": (
        "max",
        "highest",
        "largest",
        "biggest",
        "latest",
        "most expensive",
        "newest",
        "greatest",
    ),
    "min": ("min", "lowest", "smallest", "earliest", "oldest", "cheapest"),
    "stddev": ("standard deviation", "stddev", "spread of"),
}
FUNCTION_NAMES: Final = {
    "count": "count",
    "count_distinct": "distinct",
    "sum": "total",
    "avg": "average",
    "min": "lowest",
    "max": "highest",
    "median": "median",
    "stddev": "deviation",
}
UNITS: Final[dict[str, tuple[str, ...]]] = {
    "day": ("by day", "per day", "daily", "each day", "by date", "per date", "every day", "day"),
    "week": ("by week", "per week", "weekly", "each week", "every week", "week"),
    "month": (
        "by month",
        "per month",
        "monthly",
        "each month",
        "every month",
        "over time",
        "month",
    ),
    "quarter": (
        "by quarter",
        "per quarter",
        "quarterly",
        "each quarter",
        "every quarter",
        "quarter",
    ),
    "year": ("by year", "per year", "yearly", "annually", "each year", "every year", "year"),
}
MEASURES: Final[dict[str, tuple[str, ...]]] = {
    # A word for money or quantity → names of columns that may be meant, the likeliest first.
    "revenue": ("revenue", "sales", "turnover", "net", "amount", "gross", "total", "value"),
    "sales": ("sales", "revenue", "turnover", "net", "amount", "gross", "total", "value"),
    "turnover": ("turnover", "revenue", "sales", "net", "amount", "gross", "total"),
    "amount": ("amount", "gross", "net", "total", "value", "price", "sum"),
    "value": ("value", "amount", "gross", "net", "total", "price"),
    "spend": ("spend", "cost", "amount", "gross", "net", "total"),
    "spending": ("spend", "cost", "amount", "gross", "net", "total"),
    "cost": ("cost", "price", "amount", "gross", "net"),
    "income": ("income", "revenue", "net", "amount"),
    "sell": ("revenue", "sales", "net", "amount", "gross", "total"),
    "sold": ("revenue", "sales", "net", "amount", "gross", "total"),
    "earn": ("revenue", "sales", "net", "amount", "gross", "total"),
    "vat": ("tax", "vat"),
    "rating": ("rating", "score", "satisfaction"),
    "score": ("score", "rating", "satisfaction"),
    "size": ("size", "employees", "bytes"),
    "money": ("amount", "gross", "net", "revenue", "price"),
}
DATE_WORDS: Final = frozenset(
    {
        "date",
        "day",
        "at",
        "on",
        "time",
        "timestamp",
        "created",
        "updated",
        "modified",
        "datum",
        "when",
    }
)
MEANING_WORDS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "country": (("country",),),
    "email": (("email",), ("e", "email"), ("email", "address")),
    "phone": (("phone",), ("phone", "number")),
    "currency": (("currency",),),
    "postcode": (("postcode",), ("postal", "code"), ("postcode", "code")),
    "person_name": (),
    "iban": (("iban",), ("bank", "account")),
    "vat_id": (("vat", "number"), ("vat", "id"), ("tax", "number")),
}
BY: Final = ("by", "per", "grouped by", "group by", "broken down by", "split by", "for each", "for every", "across",
             "in each", "of each", "each", "every")  # fmt: skip
COMPARE: Final = ("compare", "compared", "comparison", "versus", "against", "side by side")
STOP: Final = frozenset(
    {
        "and",
        "or",
        "by",
        "per",
        "sorted",
        "sort",
        "order",
        "ordered",
        "limit",
        "with",
        "without",
        "group",
        "grouped",
    }
    | {
        "where",
        "whose",
        "as",
        "in",
        "for",
        "top",
        "from",
        "between",
        "since",
        "before",
        "after",
        "during",
        "only",
    }
    | {
        "then",
        "but",
        "until",
        "please",
        "chart",
        "over",
        "under",
        "above",
        "below",
        "more",
        "less",
        "having",
        "split",
    }
)
EMPTY: Final = ("is empty", "is missing", "is null", "is blank", "are missing", "are empty", "missing", "empty",
                "not set", "is not filled")  # fmt: skip
FILLED: Final = (
    "is not empty",
    "is not null",
    "is filled",
    "is set",
    "is present",
    "are filled",
    "is known",
)
