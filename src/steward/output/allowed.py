"""What a Vega-Lite specification may contain: the names, by place.

From the Vega-Lite 6 schema, without what reaches out of the chart (addresses, images, links, maps, DOM selectors) or
carries code of its own (custom formats, signals, embed options). What is not listed is refused.
"""

import re
from typing import Any

from steward.core import package_yaml

NAMES: dict[str, Any] = package_yaml("steward.output", "allowed.yaml")


def names_of(place: str) -> frozenset[str]:
    return frozenset(NAMES[place].split())


SCHEMAS = re.compile(r"^https://vega\.github\.io/schema/vega-lite/v[56](\.\d+){0,2}\.json$")
VIEW = names_of("view")
TOP = VIEW | names_of("top")
MARKS = names_of("marks")
MARK = names_of("mark")
MARK_PARTS = names_of("mark_parts")
CHANNELS = names_of("channels")
COLOUR_CHANNELS = names_of("colour_channels")
CHANNEL = names_of("channel")
CONDITION = CHANNEL | names_of("condition")
AGGREGATES = names_of("aggregates")
WINDOW_OPERATIONS = AGGREGATES | names_of("window_operations")
FORMAT_TYPES = names_of("format_types")
AXIS = names_of("axis")
LEGEND = names_of("legend")
SCALE = names_of("scale")
HEADER = names_of("header")
TITLE = names_of("title")
VIEW_STYLE = names_of("view_style")
SCALE_CONFIG = names_of("scale_config")
RANGE_CONFIG = names_of("range_config")
PREDICATE = names_of("predicate")
COMPARISONS = names_of("comparisons")
SORT = names_of("sort")
BIN = names_of("bin")
TIME_UNIT = names_of("time_unit")
IMPUTE = names_of("impute")
DATE_TIME = names_of("date_time")
SMALL_OBJECTS = DATE_TIME | names_of("small_objects")
GRADIENT = names_of("gradient")
PARAMETER = names_of("parameter")
SELECTION = names_of("selection")
INPUTS = names_of("inputs")
INPUT = names_of("input")
DATA = names_of("data")
DATA_FORMAT = names_of("data_format")
DATETIME_PARSE = re.compile(r"^(number|boolean|string|date|(date|utc):'[^'\\]{0,60}')$")
CONFIG_AXES = names_of("config_axes")
CONFIG_HEADERS = names_of("config_headers")
CONFIG_MARKS = MARKS | {"mark"}
CONFIG_SCALARS = names_of("config_scalars")
CONFIG_LAYOUTS = names_of("config_layouts")
LAYOUT = names_of("layout")
COLOUR = re.compile(
    r"^(#[0-9a-fA-F]{3,8}|[a-zA-Z]{1,30}|(rgb|hsl)a?\([0-9.,%\s/degturan+-]{1,60}\))$"
)
# A word, size, font or number format: nothing that a browser would fetch or run.
PLAIN = re.compile(r"^[\w #%.,+\-'\"$~^()&;:°/\[\]*|€£¥\n]{0,500}$")
SHAPE_PATH = re.compile(r"^[A-Za-z0-9 ,.+-]{0,1000}$")
NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")
EVENT = re.compile(
    r"^(click|dblclick|pointerover|pointerout|pointerdown|pointerup|pointermove|mouseover|mouseout|mousedown|mouseup|"
    r"mousemove|wheel|wheel!)$"
)
FREE_TEXT = names_of("free_text")
COLOURS = re.compile(r"^(color|fill|stroke|background|[a-zA-Z]*Color)$")
TRANSFORMS = {name: frozenset(words.split()) for name, words in NAMES["transforms"].items()}
