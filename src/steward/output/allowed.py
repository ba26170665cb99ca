"""What a Vega-Lite specification may contain: the names, by place.

From the Vega-Lite 6 schema, without what reaches out of the chart (addresses, images, links, maps, DOM selectors) or
carries code of its own (custom formats, signals, embed options). What is not listed is refused.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SCHEMAS = re.compile(r"^https://vega\.github\.io/schema/vega-lite/v[56](\.\d+){0,2}\.json$")

VIEW = _words(
    "name title description data transform mark encoding width height view params layer hconcat vconcat concat "
    "facet spec columns spacing align bounds center resolve repeat"
)
TOP = VIEW | _words("$schema datasets config background padding autosize")

MARKS = _words(
    "arc area bar line point rect rule text tick trail circle square boxplot errorbar errorband"
)
MARK = _words(
    "type align angle aria ariaRole ariaRoleDescription band bandSize baseline binSpacing blend clip color "
    "continuousBandSize cornerRadius cornerRadiusBottomLeft cornerRadiusBottomRight cornerRadiusEnd "
    "cornerRadiusTopLeft cornerRadiusTopRight cursor description dir discreteBandSize dx dy ellipsis fill fillOpacity "
    "filled font fontSize fontStyle fontWeight height innerRadius interpolate invalid limit line lineBreak lineHeight "
    "minBandSize opacity order orient outerRadius padAngle point radius radius2 radius2Offset radiusOffset shape size "
    "smooth stroke strokeCap strokeDash strokeDashOffset strokeJoin strokeMiterLimit strokeOffset strokeOpacity "
    "strokeWidth tension text theta theta2 theta2Offset thetaOffset thickness timeUnitBandPosition timeUnitBandSize "
    "tooltip width x x2 x2Offset xOffset y y2 y2Offset yOffset "
    # parts of the composite marks
    "box median rule ticks outliers extent borders"
)
MARK_PARTS = _words("line point box median rule ticks outliers band borders")

CHANNELS = _words(
    "angle color column description detail facet fill fillOpacity key opacity order radius radius2 row shape size "
    "stroke strokeDash strokeOpacity strokeWidth text theta theta2 tooltip x x2 xError xError2 xOffset y y2 yError "
    "yError2 yOffset"
)
COLOUR_CHANNELS = _words("color fill stroke")
CHANNEL = _words(
    "field type title aggregate bin timeUnit axis legend scale header sort stack impute bandPosition value datum "
    "condition format formatType align center spacing columns bounds"
)
CONDITION = CHANNEL | _words("test param empty")
AGGREGATES = _words(
    "average count distinct max mean median min missing product q1 q3 ci0 ci1 stderr stdev stdevp sum valid values "
    "variance variancep"
)
WINDOW_OPERATIONS = AGGREGATES | _words(
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value"
)
FORMAT_TYPES = _words("number time utc")

AXIS = _words(
    "aria bandPosition description disable domain domainCap domainColor domainDash domainDashOffset domainOpacity "
    "domainWidth format formatType grid gridCap gridColor gridDash gridDashOffset gridOpacity gridWidth labelAlign "
    "labelAngle labelBaseline labelBound labelColor labelExpr labelFlush labelFlushOffset labelFont labelFontSize "
    "labelFontStyle labelFontWeight labelLimit labelLineHeight labelOffset labelOpacity labelOverlap labelPadding "
    "labelSeparation labels maxExtent minExtent offset orient position tickBand tickCap tickColor tickCount tickDash "
    "tickDashOffset tickExtra tickMinStep tickOffset tickOpacity tickRound tickSize tickWidth ticks title titleAlign "
    "titleAnchor titleAngle titleBaseline titleColor titleFont titleFontSize titleFontStyle titleFontWeight titleLimit "
    "titleLineHeight titleOpacity titlePadding titleX titleY translate values zindex"
)
LEGEND = _words(
    "aria clipHeight columnPadding columns cornerRadius description direction disable fillColor format formatType "
    "gradientDirection gradientHorizontalMaxLength gradientHorizontalMinLength gradientLabelLimit gradientLabelOffset "
    "gradientLength gradientOpacity gradientStrokeColor gradientStrokeWidth gradientThickness gradientVerticalMaxLength "
    "gradientVerticalMinLength gridAlign labelAlign labelBaseline labelColor labelExpr labelFont labelFontSize "
    "labelFontStyle labelFontWeight labelLimit labelOffset labelOpacity labelOverlap labelPadding labelSeparation "
    "legendX legendY offset orient padding rowPadding strokeColor strokeDash strokeWidth symbolBaseFillColor "
    "symbolBaseStrokeColor symbolDash symbolDashOffset symbolDirection symbolFillColor symbolLimit symbolOffset "
    "symbolOpacity symbolSize symbolStrokeColor symbolStrokeWidth symbolType tickCount tickMinStep title titleAlign "
    "titleAnchor titleBaseline titleColor titleFont titleFontSize titleFontStyle titleFontWeight titleLimit "
    "titleLineHeight titleOpacity titleOrient titlePadding type unselectedOpacity values zindex"
)
SCALE = _words(
    "align base bins clamp constant domain domainMax domainMid domainMin domainRaw exponent interpolate nice padding "
    "paddingInner paddingOuter range rangeMax rangeMin reverse round scheme type zero"
)
HEADER = _words(
    "format formatType labelAlign labelAnchor labelAngle labelBaseline labelColor labelExpr labelFont labelFontSize "
    "labelFontStyle labelFontWeight labelLimit labelLineHeight labelOrient labelPadding labels orient title titleAlign "
    "titleAnchor titleAngle titleBaseline titleColor titleFont titleFontSize titleFontStyle titleFontWeight titleLimit "
    "titleLineHeight titleOrient titlePadding"
)
TITLE = _words(
    "align anchor angle aria baseline color dx dy font fontSize fontStyle fontWeight frame limit lineHeight offset "
    "orient subtitle subtitleColor subtitleFont subtitleFontSize subtitleFontStyle subtitleFontWeight "
    "subtitleLineHeight subtitlePadding text zindex"
)
VIEW_STYLE = _words(
    "clip continuousHeight continuousWidth cornerRadius cursor discreteHeight discreteWidth fill fillOpacity opacity "
    "step stroke strokeCap strokeDash strokeDashOffset strokeJoin strokeMiterLimit strokeOpacity strokeWidth"
)
SCALE_CONFIG = _words(
    "bandPaddingInner bandPaddingOuter bandWithNestedOffsetPaddingInner bandWithNestedOffsetPaddingOuter "
    "barBandPaddingInner clamp continuousPadding invalid maxBandSize maxFontSize maxOpacity maxSize maxStrokeWidth "
    "minBandSize minFontSize minOpacity minSize minStrokeWidth offsetBandPaddingInner offsetBandPaddingOuter "
    "pointPadding quantileCount quantizeCount rectBandPaddingInner round tickBandPaddingInner useUnaggregatedDomain "
    "xReverse zero"
)
RANGE_CONFIG = _words("category diverging heatmap ordinal ramp symbol")
PREDICATE = _words("field equal lt lte gt gte range oneOf valid timeUnit param empty and or not")
COMPARISONS = _words("equal lt lte gt gte range oneOf valid")
SORT = _words("field op order encoding")
BIN = _words("anchor base binned divide extent maxbins minstep nice step steps")
TIME_UNIT = _words("unit utc step maxbins binned")
IMPUTE = _words("frame keyvals method value")
DATE_TIME = _words(
    "year quarter month week day dayofyear date hours minutes seconds milliseconds utc"
)
# Bands, intervals, paddings, autosize: objects of a few plain values.
SMALL_OBJECTS = DATE_TIME | _words(
    "band interval step type gamma left right top bottom contains resize"
)
GRADIENT = _words("gradient stops x1 y1 x2 y2 r1 r2")
PARAMETER = _words("name value expr bind select views")
SELECTION = _words("type encodings fields on clear toggle nearest resolve mark translate zoom")
INPUTS = _words("range checkbox select radio")
INPUT = _words("input min max step options labels name debounce")
DATA = _words("values name format sequence")
DATA_FORMAT = _words("type parse")
DATETIME_PARSE = re.compile(r"^(number|boolean|string|date|(date|utc):'[^'\\]{0,60}')$")

TRANSFORMS: dict[str, frozenset[str]] = {
    "aggregate": _words("aggregate groupby"),
    "bin": _words("bin field as"),
    "calculate": _words("calculate as"),
    "density": _words(
        "density groupby cumulative counts bandwidth extent minsteps maxsteps steps resolve as"
    ),
    "extent": _words("extent param"),
    "filter": _words("filter"),
    "flatten": _words("flatten as"),
    "fold": _words("fold as"),
    "impute": _words("impute key frame groupby keyvals method value"),
    "joinaggregate": _words("joinaggregate groupby"),
    "loess": _words("loess on groupby bandwidth as"),
    "lookup": _words("lookup from as default"),
    "pivot": _words("pivot value groupby limit op"),
    "quantile": _words("quantile groupby probs step as"),
    "regression": _words("regression on groupby method order extent params as"),
    "sample": _words("sample"),
    "stack": _words("stack groupby offset sort as"),
    "timeUnit": _words("timeUnit field as"),
    "window": _words("window frame ignorePeers groupby sort"),
}
# A transform is known by the first of these that it has: `bin` and `extent` are also arguments of others.
TRANSFORM_ORDER = (
    "aggregate",
    "joinaggregate",
    "window",
    "calculate",
    "filter",
    "density",
    "flatten",
    "fold",
    "impute",
    "loess",
    "lookup",
    "pivot",
    "quantile",
    "regression",
    "sample",
    "stack",
    "timeUnit",
    "bin",
    "extent",
)

CONFIG_AXES = _words(
    "axis axisBand axisBottom axisDiscrete axisLeft axisPoint axisQuantitative axisRight axisTemporal axisTop axisX "
    "axisXBand axisXDiscrete axisXPoint axisXQuantitative axisXTemporal axisY axisYBand axisYDiscrete axisYPoint "
    "axisYQuantitative axisYTemporal"
)
CONFIG_HEADERS = _words("header headerColumn headerFacet headerRow")
CONFIG_MARKS = MARKS | {"mark"}
CONFIG_SCALARS = _words(
    "aria autosize background countTitle fieldTitle font lineBreak numberFormat padding timeFormat "
    "normalizedNumberFormat"
)
CONFIG_LAYOUTS = _words("concat facet")
LAYOUT = _words("columns spacing")

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
FREE_TEXT = _words("text title subtitle description countTitle ariaRoleDescription")
COLOURS = re.compile(r"^(color|fill|stroke|background|[a-zA-Z]*Color)$")
