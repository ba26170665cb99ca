"""A corpus of odd, broken and hostile files, made by code, each with what must become of it.

`records` of every case is counted by hand, not by the reader under test.
"""

import datetime as dt
import gzip
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import xlsxwriter  # type: ignore[import-untyped]

from steward.ingest import ColumnOption, Limits, Options
from steward.ingest.arrow import arrow

SMALL = Limits(
    threads=1, unpacked_mb=40, unpack_ratio=100, unpack_free_mb=4, nesting=2, columns=5_000
)
UTC = dt.UTC


@dataclass(frozen=True)
class Loads:
    """The file becomes these rows; rejects are pairs of a line and words from the reason."""

    records: int
    rows: list[tuple[Any, ...]] | None
    types: list[str] | None = None
    names: list[str] | None = None
    rejects: list[tuple[int, str]] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)
    preamble: int = 0


@dataclass(frozen=True)
class Refused:
    """The file is refused with this code."""

    code: str


@dataclass(frozen=True)
class Case:
    name: str
    content: bytes | Callable[[], bytes]
    expected: Loads | Refused
    options: Options = Options()  # noqa: RUF009 - frozen
    limits: Limits = SMALL
    label: str = ""

    @property
    def id(self) -> str:
        return self.label or self.name

    def write(self, folder: Path) -> Path:
        path = folder / "input"
        path.write_bytes(self.content() if callable(self.content) else self.content)
        return path


def moment(*parts: int) -> dt.datetime:
    """A moment without a zone, as a TIMESTAMP is."""
    return dt.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001


def corpus() -> list[Case]:
    parts = (
        encodings(), quoting(), layouts(), numbers(), moments(), nulls(), jsons(), parquets(),
        spreadsheets(), archives(), databases(), strangers(),
    )  # fmt: skip
    return [case for part in parts for case in part]


def _text(label: str, text: str, expected: Loads | Refused, **rest: Any) -> Case:
    return Case(f"{label}.csv", text.encode(), expected, label=label, **rest)


def encodings() -> Iterator[Case]:
    accents = "id,town\n1,Málaga\n2,Köln\n"
    towns: list[tuple[Any, ...]] = [(1, "Málaga"), (2, "Köln")]
    for label, data in {
        "utf-8": accents.encode(),
        "utf-8-bom": accents.encode("utf-8-sig"),
        "utf-16-le-bom": b"\xff\xfe" + accents.encode("utf-16-le"),
        "utf-16-be-bom": b"\xfe\xff" + accents.encode("utf-16-be"),
        "utf-16-le-bare": accents.encode("utf-16-le"),
        "utf-16-be-bare": accents.encode("utf-16-be"),
        "utf-32-bom": accents.encode("utf-32"),
        "latin-1": accents.encode("latin-1"),
    }.items():
        yield Case(f"{label}.csv", data, Loads(2, towns, ["BIGINT", "VARCHAR"], ["id", "town"]))
    smart = "id,said\n1,“yes” – €5\n2,it’s naïve\n3,café\n"
    yield Case(
        "cp1252.csv",
        smart.encode("cp1252"),
        Loads(3, [(1, "“yes” – €5"), (2, "it’s naïve"), (3, "café")], notes={"guessed-encoding"}),
    )
    for label, encoding, words in (
        ("shift-jis", "shift_jis", ("東京都の人口", "大阪府の面積", "日本語のテキスト")),
        ("gb18030", "gb18030", ("北京市的人口数据", "上海市的面积数据", "这是中文文本内容")),
        ("euc-kr", "euc_kr", ("서울특별시의 인구", "부산광역시의 면적", "한국어 텍스트입니다")),
        (
            "cp1251",
            "cp1251",
            ("Население Москвы растёт", "Площадь города большая", "Это русский текст"),
        ),
    ):
        rows: list[tuple[Any, ...]] = [(i, word) for i, word in enumerate(words * 4)]
        text = "id,text\n" + "".join(f"{i},{word}\n" for i, word in rows)
        yield Case(f"{label}.csv", text.encode(encoding), Loads(12, rows, ["BIGINT", "VARCHAR"]))
    yield Case(
        "declared-cp437.csv",
        "id,text\n1,Ç é â\n".encode("cp437"),
        Loads(1, [(1, "Ç é â")]),
        Options(encoding="cp437"),
    )
    yield Case(
        "damaged-utf-8.csv",
        "id,t\n1,é\n2,ü\n".encode() + b"3,\xff\xfe\n" + "4,ö\n5,ß\n6,å\n".encode(),
        Loads(
            6,
            [(1, "é"), (2, "ü"), (4, "ö"), (5, "ß"), (6, "å")],
            rejects=[(4, "not valid utf-8")],
            notes={"damaged-encoding"},
        ),
    )
    yield Case(
        "lone-surrogate.csv",
        "id,t\n1,é\n2,ü\n".encode() + b"3,\xed\xa0\x80\n",
        Loads(3, [(1, "é"), (2, "ü")], rejects=[(4, "not valid utf-8")]),
    )
    yield Case(
        "overlong-slash.csv",
        "id,t\n1,é\n2,ü\n".encode() + b"3,\xc0\xaf\n",
        Loads(3, [(1, "é"), (2, "ü")], rejects=[(4, "not valid utf-8")]),
    )
    seven = b"id,text\n1,Hi Mom -+Jjo--!\n2,caf+AOk-\n3,na+AO8-ve\n"
    yield Case(
        "utf-7-kept.csv",
        seven,
        Loads(
            3, [(1, "Hi Mom -+Jjo--!"), (2, "caf+AOk-"), (3, "na+AO8-ve")], notes={"maybe-utf-7"}
        ),
    )
    yield Case(
        "utf-7-declared.csv",
        seven,
        Loads(3, [(1, "Hi Mom -☺-!"), (2, "café"), (3, "naïve")]),
        Options(encoding="utf-7"),
    )
    yield Case(
        "nul-bytes.csv",
        b"id,t\n1,a\0b\n2,\0\n3,c\n",
        Loads(3, [(1, "a\0b"), (2, "\0"), (3, "c")]),
    )
    yield Case(
        "unknown-encoding.csv", b"a,b\n1,2\n", Refused("invalid"), Options(encoding="klingon")
    )


def quoting() -> Iterator[Case]:
    yield _text(
        "doubled-quotes", 'id,t\n1,"say ""hi"""\n2,""""\n', Loads(2, [(1, 'say "hi"'), (2, '"')])
    )
    yield _text(
        "quoted-line-ends",
        'id,t\n1,"two\nlines"\n2,"crlf\r\ninside"\n3,"a,b"\n',
        Loads(3, [(1, "two\nlines"), (2, "crlf\r\ninside"), (3, "a,b")]),
    )
    yield _text(
        "quote-inside-field",
        'id,t\n1,5" pipe\n2,it"s\n3,x\n',
        Loads(3, [(1, '5" pipe'), (2, 'it"s'), (3, "x")]),
    )
    yield _text(
        "spaces-beside-quotes",
        'id,t\n1, "b" \n2,c\n3," d "\n',
        Loads(3, [(1, ' "b" '), (2, "c"), (3, " d ")]),
    )
    yield _text(
        "unclosed-quote",
        'id,t,u\n1,a,b\n2,"open,c\n3,d,e\n4,f,g\n5,h,i\n',
        Loads(
            5,
            [(1, "a", "b"), (3, "d", "e"), (4, "f", "g"), (5, "h", "i")],
            rejects=[(3, "never closed")],
        ),
        options=Options(quote='"', delimiter=","),
    )
    yield _text(
        "unclosed-quote-last",
        'id,t\n1,a\n2,b\n3,"open\n',
        Loads(3, [(1, "a"), (2, "b")], rejects=[(4, "never closed")]),
        options=Options(quote='"'),
    )
    yield _text(
        "text-after-quote",
        'id,t\n1,a\n2,"b"c\n3,d\n4,"e"\n',
        Loads(4, [(1, "a"), (3, "d"), (4, "e")], rejects=[(3, "follows a closing quote")]),
        options=Options(quote='"'),
    )
    yield _text(
        "backslash-escapes",
        'id,t\n1,"a \\"b\\" c"\n2,"c:\\\\d"\n3,"x\\ny"\n',
        Loads(3, [(1, 'a "b" c'), (2, "c:\\d"), (3, "x\\ny")]),
    )
    yield _text(
        "single-quotes",
        "id,t\n1,'a,b'\n2,'it''s'\n3,'c'\n",
        Loads(3, [(1, "a,b"), (2, "it's"), (3, "c")]),
    )
    yield _text(
        "no-quoting", 'id\tsize\n1\t5"\n2\t"6\n3\t7\n', Loads(3, [(1, '5"'), (2, '"6'), (3, "7")])
    )
    yield _text(
        "everything-quoted",
        '"id","t","n"\n"1","a","5"\n"2","b",""\n"3","","7"\n',
        Loads(3, [(1, "a", 5), (2, "b", None), (3, "", 7)], ["BIGINT", "VARCHAR", "BIGINT"]),
    )


def layouts() -> Iterator[Case]:
    two: list[tuple[Any, ...]] = [(1, "a"), (2, "b")]
    yield _text("cr-only", "id,t\r1,a\r2,b\r", Loads(2, two))
    yield _text("crlf", "id,t\r\n1,a\r\n2,b\r\n", Loads(2, two))
    yield _text("mixed-line-ends", "id,t\n1,a\r\n2,b\r3,c\n", Loads(3, [*two, (3, "c")]))
    yield _text("no-final-line-end", "id,t\n1,a\n2,b", Loads(2, two))
    yield _text("blank-lines", "id,t\n\n1,a\n\n\n2,b\n\n", Loads(2, two))
    yield _text("only-header", "id,name,town\n", Loads(0, [], names=["id", "name", "town"]))
    yield Case("empty.csv", b"", Refused("empty"))
    yield Case("blank.csv", b"\n\n\r\n", Refused("empty"))
    yield Case("only-bom.csv", b"\xef\xbb\xbf", Refused("empty"))
    yield _text(
        "ragged",
        "a,b,c\n1,2,3\n4,5\n6,7,8,9\n10,11,12\n",
        Loads(4, [(1, 2, 3), (10, 11, 12)], rejects=[(3, "has 2 fields"), (4, "has 4 fields")]),
    )
    yield _text(
        "ragged-padded",
        "a,b,c\n1,2,3\n4,5\n6,7,8,9\n10,11,12\n",
        Loads(4, [(1, 2, 3), (4, 5, None), (10, 11, 12)], rejects=[(4, "has 4 fields")]),
        options=Options(ragged="pad"),
    )
    yield _text(
        "trailing-delimiter",
        "a,b\n1,2,\n3,4,\n",
        Loads(
            2, [(1, 2, None), (3, 4, None)], names=["a", "b", "column_3"], notes={"column-renamed"}
        ),
    )
    yield _text("semicolons", "id;t\n1;a\n2;b\n", Loads(2, two))
    yield _text("tabs", "id\tt\n1\ta\n2\tb\n", Loads(2, two))
    yield _text("pipes", "id|t\n1|a\n2|b\n", Loads(2, two))
    yield _text("unit-separators", "id\x1ft\n1\x1fa\n2\x1fb\n", Loads(2, two))
    yield _text("double-pipes", "id||t\n1||a\n2||b\n", Loads(2, two))
    yield _text(
        "declared-letter", "idxt\n1xa\n2xb\n", Loads(2, two), options=Options(delimiter="x")
    )
    yield _text(
        "preamble",
        "Report of sales\nMade on Monday\n\nid,t,n\n1,a,5\n2,b,6\n",
        Loads(2, [(1, "a", 5), (2, "b", 6)], preamble=2),
    )
    yield _text(
        "names",
        "a,A,,a,a_2\n1,2,3,4,5\n",
        Loads(
            1,
            [(1, 2, 3, 4, 5)],
            names=["a", "A_3", "column_3", "a_4", "a_2"],
            notes={"column-renamed"},
        ),
    )
    yield _text(
        "no-header",
        "1,a\n2,b\n3,c\n",
        Loads(3, [(1, "a"), (2, "b"), (3, "c")], names=["column_1", "column_2"]),
    )
    yield _text(
        "header-declared-away",
        "id,t\n1,a\n",
        Loads(2, [("id", "t"), ("1", "a")]),
        options=Options(header_row=0),
    )
    yield Case(
        "million-columns.csv",
        lambda: b",".join(b"%d" % i for i in range(1_000_000)) + b"\n",
        Refused("too-many-columns"),
    )
    yield _text("one-column", "name\nAnn Lee\nBob Ray\n", Loads(2, [("Ann Lee",), ("Bob Ray",)]))
    yield _text("one-column-blanks", "n\n1\n\n2\n", Loads(3, [(1,), (None,), (2,)]))
    yield _text(
        "one-column-of-times",
        "at\n10:30:00\n11:45:10\n",
        Loads(2, [(dt.time(10, 30),), (dt.time(11, 45, 10),)]),
    )
    yield Case(
        "huge-field.csv",
        lambda: b"id,t\n1," + b"x" * 5_000_000 + b"\n2,b\n",
        Loads(2, [(1, "x" * 5_000_000), (2, "b")]),
    )
    yield Case(
        "field-over-limit.csv",
        lambda: b"id,t\n1,a\n2," + b"x" * 3_000_000 + b"\n3,c\n",
        Loads(3, [(1, "a"), (3, "c")], rejects=[(3, "longer than")]),
        limits=Limits(threads=1, record_mb=2),
    )
    yield _text(
        "formulas",
        "id,t\n1,=cmd|'/c calc'!A0\n2,@SUM(A1)\n3,+1+1\n",
        Loads(3, [(1, "=cmd|'/c calc'!A0"), (2, "@SUM(A1)"), (3, "+1+1")], notes={"formula-like"}),
    )
    yield _text("comment-signs", "id,t\n#1,a\n2,#b\n", Loads(2, [("#1", "a"), ("2", "#b")]))
    yield _text(
        "spaces-only-line", "id,t\n1,a\n   \n2,b\n", Loads(3, two, rejects=[(3, "has 1 fields")])
    )
    yield _text(
        "all-nulls-row", "id,t\n1,a\n,\n2,b\n", Loads(3, [(1, "a"), (None, None), (2, "b")])
    )


def numbers() -> Iterator[Case]:
    def one(
        label: str, values: list[str], kind: str, read: list[Any], *notes: str, **rest: Any
    ) -> Case:
        # Tabs, so that decimal commas and grouped thousands need no quotes.
        text = "k\tv\n" + "".join(f"r{i}\t{value}\n" for i, value in enumerate(values))
        rows: list[tuple[Any, ...]] = [(f"r{i}", value) for i, value in enumerate(read)]
        expected = Loads(len(values), rows, ["VARCHAR", kind], notes=set(notes))
        return _text(label, text, expected, **rest)

    d = Decimal
    yield one("leading-zeros", ["007", "12", "3"], "VARCHAR", ["007", "12", "3"])
    yield one("plus-signs", ["+49", "12"], "VARCHAR", ["+49", "12"])
    yield one(
        "big-integers",
        ["12345678901234567890", "1"],
        "DECIMAL(38,0)",
        [d("12345678901234567890"), d(1)],
    )
    yield one(
        "int64-edge",
        ["9223372036854775807", "-9223372036854775808"],
        "BIGINT",
        [2**63 - 1, -(2**63)],
    )
    yield one("fifty-digits", ["1" * 50, "2"], "VARCHAR", ["1" * 50, "2"], "number-too-long")
    yield one("decimals", ["1.50", "-0.125", "3"], "DECIMAL(18,3)", [d("1.50"), d("-0.125"), d(3)])
    yield one(
        "decimal-commas",
        ["1,5", "12,25", "0,75"],
        "DECIMAL(18,2)",
        [d("1.5"), d("12.25"), d("0.75")],
    )
    yield one(
        "grouped-points",
        ["1.234,50", "12,00", "1.000.000,25"],
        "DECIMAL(18,2)",
        [d("1234.50"), d(12), d("1000000.25")],
    )
    yield one(
        "grouped-commas",
        ["1,234.50", "12.00", "1,000,000.25"],
        "DECIMAL(18,2)",
        [d("1234.50"), d(12), d("1000000.25")],
    )
    yield one("grouped-integers", ["1,234,567", "12", "1,000"], "BIGINT", [1234567, 12, 1000])
    yield one("grouped-spaces", ["1 234", "12", "1 000 000"], "BIGINT", [1234, 12, 1000000])
    yield one("grouped-swiss", ["1'234.50", "12.25"], "DECIMAL(18,2)", [d("1234.50"), d("12.25")])
    yield one("ambiguous-comma", ["1,234", "5,678"], "BIGINT", [1234, 5678], "assumed-number")
    yield one(
        "ambiguous-comma-declared", ["1,234", "5,678"], "DECIMAL(18,3)", [d("1.234"), d("5.678")],
        options=Options(decimal_mark=","),
    )  # fmt: skip
    yield one("powers", ["1e3", "2.5E-3", "-1.5e+2"], "DOUBLE", [1000.0, 0.0025, -150.0])
    yield one(
        "overflowing-powers", ["1e400", "1e3"], "VARCHAR", ["1e400", "1e3"], "number-too-long"
    )
    yield one("doubles", ["0.1234567890123456", "3.5"], "DOUBLE", [0.1234567890123456, 3.5])
    yield one("not-numbers", ["NaN", "inf", "1"], "VARCHAR", ["NaN", "inf", "1"])
    yield one("padded-numbers", [" 5", "6 ", "7"], "BIGINT", [5, 6, 7])
    yield one("hexadecimal", ["0x1F", "12"], "VARCHAR", ["0x1F", "12"])
    yield one("minus-zero", ["-0", "5"], "DOUBLE", [0.0, 5.0])
    yield one("full-width-digits", ["５", "６"], "VARCHAR", ["５", "６"])
    yield one(
        "declared-zeros", ["007", "12"], "BIGINT", [7, 12],
        options=Options(columns={"v": ColumnOption("BIGINT")}),
    )  # fmt: skip
    yield _text(
        "declared-scale",
        "k,v\na,1.25\nb,1.255\nc,1.250\n",
        Loads(3, [("a", d("1.25")), ("c", d("1.25"))], rejects=[(3, "DECIMAL(10,2)")]),
        options=Options(columns={"v": ColumnOption("DECIMAL(10,2)")}),
    )
    yield _text(
        "points-beside-commas",
        "a;b\n1,5;1.234\n2,25;5.678\n",
        Loads(2, [(d("1.5"), 1234), (d("2.25"), 5678)], notes={"assumed-number"}),
    )
    many = "".join(f"{i},{i * 3}\n" for i in range(400))
    yield Case(
        "one-bad-in-400.csv",
        ("id,v\n" + many + "400,oops\n").encode(),
        Loads(
            401,
            [(i, i * 3) for i in range(400)],
            ["BIGINT", "BIGINT"],
            rejects=[(402, "v: does not read as BIGINT")],
        ),
        Options(tolerance=0.005),
    )
    yield Case(
        "one-bad-no-tolerance.csv",
        ("id,v\n" + many + "400,oops\n").encode(),
        Loads(401, None, ["BIGINT", "VARCHAR"]),
        Options(tolerance=0),
    )


def moments() -> Iterator[Case]:
    def one(
        label: str, values: list[str], kind: str, read: list[Any], *notes: str, **rest: Any
    ) -> Case:
        text = "k;v\n" + "".join(f"r{i};{value}\n" for i, value in enumerate(values))
        rows: list[tuple[Any, ...]] = [(f"r{i}", value) for i, value in enumerate(read)]
        expected = Loads(len(values), rows, ["VARCHAR", kind], notes=set(notes))
        return _text(label, text, expected, **rest)

    day = dt.date
    yield one(
        "iso-dates", ["2024-02-29", "1999-12-31"], "DATE", [day(2024, 2, 29), day(1999, 12, 31)]
    )
    yield one(
        "ambiguous-dates",
        ["01/02/2024", "03/04/2024"],
        "DATE",
        [day(2024, 2, 1), day(2024, 4, 3)],
        "assumed-date",
    )
    yield one(
        "day-first", ["25/03/2024", "01/02/2024"], "DATE", [day(2024, 3, 25), day(2024, 2, 1)]
    )
    yield one(
        "month-first", ["03/25/2024", "01/02/2024"], "DATE", [day(2024, 3, 25), day(2024, 1, 2)]
    )
    yield one(
        "contradicting-dates",
        ["25/03/2024", "03/25/2024"],
        "VARCHAR",
        ["25/03/2024", "03/25/2024"],
        "mixed-dates",
    )
    yield one(
        "ambiguous-dates-declared", ["01/02/2024", "03/04/2024"], "DATE", [day(2024, 2, 1), day(2024, 4, 3)],
        options=Options(date_format="%d/%m/%Y"),
    )  # fmt: skip
    yield one(
        "dotted-dates", ["31.12.2023", "1.1.2024"], "DATE", [day(2023, 12, 31), day(2024, 1, 1)]
    )
    yield one(
        "named-months", ["5 Jan 2024", "17 Feb 2024"], "DATE", [day(2024, 1, 5), day(2024, 2, 17)]
    )
    yield one(
        "two-digit-years",
        ["25/03/24", "01/02/23"],
        "DATE",
        [day(2024, 3, 25), day(2023, 2, 1)],
        "assumed-date",
    )
    yield one(
        "iso-moments", ["2024-01-02 03:04:05", "2024-01-02T03:04:05.678"], "TIMESTAMP",
        [moment(2024, 1, 2, 3, 4, 5), moment(2024, 1, 2, 3, 4, 5, 678000)],
    )  # fmt: skip
    yield one(
        "moments-in-utc", ["2024-01-02T03:04:05Z", "2024-01-02T04:00:00+00:00"], "TIMESTAMP WITH TIME ZONE",
        [dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC), dt.datetime(2024, 1, 2, 4, 0, tzinfo=UTC)],
    )  # fmt: skip
    zoned = ["2024-01-02T03:04:05+02:00", "2024-01-02T03:04:05Z"]
    yield one("moments-in-zones", zoned, "VARCHAR", list(zoned), "time-zones")
    yield one(
        "moments-in-zones-declared", zoned, "TIMESTAMP WITH TIME ZONE",
        [dt.datetime(2024, 1, 2, 1, 4, 5, tzinfo=UTC), dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)],
        options=Options(columns={"v": ColumnOption("TIMESTAMPTZ")}),
    )  # fmt: skip
    nanos = ["2024-01-02 03:04:05.123456789"]
    yield one("nanoseconds", nanos, "VARCHAR", list(nanos))
    yield one(
        "half-days", ["3/25/2024 1:05 PM", "3/26/2024 12:00 AM"], "TIMESTAMP",
        [moment(2024, 3, 25, 13, 5), moment(2024, 3, 26)],
    )  # fmt: skip
    yield one("midnight-as-24", ["2024-01-02 24:00:00"], "VARCHAR", ["2024-01-02 24:00:00"])
    yield one("infinite-dates", ["2024-01-02", "infinity"], "VARCHAR", ["2024-01-02", "infinity"])
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(300)]
    yield Case(
        "one-bad-date-in-300.csv",
        (
            "id,d\n" + "".join(f"{i},{d}\n" for i, d in enumerate(days)) + "300,2024-02-30\n"
        ).encode(),
        Loads(301, list(enumerate(days)), ["BIGINT", "DATE"], rejects=[(302, "DATE")]),
        Options(tolerance=0.005),
    )


def nulls() -> Iterator[Case]:
    yield _text("empty-or-null", 'id,t\n1,\n2,""\n3,x\n', Loads(3, [(1, None), (2, ""), (3, "x")]))
    yield _text(
        "na-found",
        "id,v\n1,5\n2,NA\n3,7\n",
        Loads(3, [(1, 5), (2, None), (3, 7)], notes={"null-marker"}),
    )
    yield _text(
        "na-declared",
        "id,v\n1,5\n2,NA\n3,7\n",
        Loads(3, [(1, 5), (2, None), (3, 7)], ["BIGINT", "BIGINT"]),
        options=Options(null_markers=("NA",)),
    )
    yield _text("null-word", "id,v\n1,null\n2,x\n", Loads(2, [(1, "null"), (2, "x")]))
    yield _text(
        "truth-values",
        "id,v\n1,true\n2,False\n",
        Loads(2, [(1, True), (2, False)], ["BIGINT", "BOOLEAN"]),
    )


def jsons() -> Iterator[Case]:
    def case(label: str, text: str | bytes, expected: Loads | Refused, **rest: Any) -> Case:
        data = text if isinstance(text, bytes) else text.encode()
        return Case(f"{label}.json", data, expected, label=f"json-{label}", **rest)

    yield case(
        "array", '[{"a":1,"b":"x"},{"a":2}]', Loads(2, [(1, "x"), (2, None)], ["BIGINT", "VARCHAR"])
    )
    yield case("empty-array", "[]", Refused("empty"))
    yield case(
        "nested",
        '[{"a":{"x":1,"y":["p","q"]}},{"a":{"x":2,"y":[]}}]',
        Loads(
            2,
            [({"x": 1, "y": ["p", "q"]},), ({"x": 2, "y": []},)],
            ["STRUCT(x BIGINT, y VARCHAR[])"],
        ),
    )
    yield case(
        "mixed-kinds",
        '[{"a":1},{"a":"1"},{"a":[1.10]}]',
        Loads(3, [("1",), ('"1"',), ("[1.10]",)], ["JSON"]),
    )
    yield case(
        "exact-numbers",
        '[{"i":123456789012345678901234567890,"d":0.1234567890123456789},{"i":1,"d":1.5}]',
        Loads(
            2,
            [
                (Decimal(123456789012345678901234567890), Decimal("0.1234567890123456789")),
                (Decimal(1), Decimal("1.5")),
            ],
            ["DECIMAL(38,0)", "DECIMAL(38,19)"],
        ),
    )
    yield case("text-numbers", '[{"a":"007"},{"a":"5"}]', Loads(2, [("007",), ("5",)], ["VARCHAR"]))
    yield case("text-dates", '[{"a":"2024-01-02"}]', Loads(1, [(dt.date(2024, 1, 2),)], ["DATE"]))
    lines = '{"a":1}\n{"a":2\n{"a":3,"a":4}\n{"a":NaN}\n\n{"a":5}\n{"a":"\\ud800"}\n'
    yield case(
        "broken-lines",
        lines,
        Loads(
            6,
            [(1,), (5,)],
            rejects=[
                (2, "not valid JSON"),
                (3, "appears twice"),
                (4, "no JSON number"),
                (7, "half of a character"),
            ],
        ),
    )
    deep = "[" * 100_000 + "]" * 100_000
    yield case(
        "deep-line",
        f'{{"a":1}}\n{{"a":{deep}}}\n{{"a":2}}\n',
        Loads(3, [(1,), (2,)], rejects=[(2, "nested too deeply")]),
    )
    yield case("deep-array", f'[{{"a":{deep}}}]', Refused("damaged"))
    yield case("cut-short", '[{"a":1},{"a":2', Refused("damaged"))
    yield case("trailing-garbage", '[{"a":1}] trailing', Refused("damaged"))
    yield case("trailing-comma", '[{"a":1},]', Refused("damaged"))
    yield case("several-values", '{"a":\n1}\n{"a":\n2}', Loads(2, [(1,), (2,)]))
    yield case(
        "wrapper",
        '{"page":1,"items":[{"a":1},{"a":2}]}',
        Loads(2, [(1,), (2,)], notes={"beside-the-table"}),
    )
    yield case("wrapper-one-line", '{"items":[{"a":"é"}]}', Loads(1, [("é",)], names=["a"]))
    yield case("utf-16", '[{"a":"é"}]'.encode("utf-16"), Loads(1, [("é",)]))
    yield case("scalars", "[1,2,3]", Loads(3, [(1,), (2,), (3,)], names=["value"]))
    yield case(
        "many-keys", json.dumps([{f"k{i}": i for i in range(6_000)}]), Refused("too-many-columns")
    )
    yield case("keys-by-case", '[{"a":1,"A":2}]', Loads(1, [(1, 2)], names=["a", "A_2"]))
    yield case("nul-in-text", '[{"a":"x\\u0000y"}]', Loads(1, [("x\0y",)]))


def parquet_bytes(sql: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.parquet"
        duckdb.connect().execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def parquets() -> Iterator[Case]:
    sql = "SELECT i AS id, 'n' || i AS name, i * 1.25::DECIMAL(10,2) AS amount FROM range(3) t(i)"
    rows: list[tuple[Any, ...]] = [
        (0, "n0", Decimal(0)),
        (1, "n1", Decimal("1.25")),
        (2, "n2", Decimal("2.50")),
    ]
    yield Case("fine.parquet", lambda: parquet_bytes(sql), Loads(3, rows))
    yield Case("cut.parquet", lambda: parquet_bytes(sql)[:-20], Refused("damaged"))
    yield Case("head-only.parquet", b"PAR1" + b"\0" * 64, Refused("damaged"))
    yield Case("tiny.parquet", b"PAR1", Refused("damaged"))
    yield Case(
        "footer-lies.parquet",
        lambda: parquet_bytes(sql)[:-8] + b"\xff\xff\xff\x7fPAR1",
        Refused("damaged"),
    )
    yield Case("scrambled.parquet", lambda: _scrambled(parquet_bytes(sql)), Refused("damaged"))
    yield Case("csv-named.parquet", b"id,t\n1,a\n", Loads(1, [(1, "a")], notes={"mislabelled"}))
    yield Case(
        "parquet-named.csv", lambda: parquet_bytes(sql), Loads(3, rows, notes={"mislabelled"})
    )


def _scrambled(data: bytes) -> bytes:
    """The footer's thrift structure overwritten, its length kept."""
    return data[:-60] + bytes(255 - byte for byte in data[-60:-8]) + data[-8:]


def workbook(fill: Callable[[Any], None]) -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        fill(book)
    return buffer.getvalue()


def _table(book: Any, name: str = "Sheet1", top: int = 0) -> Any:
    sheet = book.add_worksheet(name)
    for row, cells in enumerate([("id", "name", "amount"), (1, "a", 1.5), (2, "b", 2)]):
        sheet.write_row(top + row, 0, cells)
    return sheet


def _dated(book: Any) -> None:
    sheet = book.add_worksheet()
    style = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
    sheet.write_row(0, 0, ("when", "ok", "zip"))
    sheet.write_datetime(1, 0, moment(2024, 1, 2, 3, 4), style)
    sheet.write_boolean(1, 1, True)
    sheet.write_string(1, 2, "00123")
    sheet.write_datetime(2, 0, moment(2024, 1, 3), style)
    sheet.write_boolean(2, 1, False)
    sheet.write_string(2, 2, "45678")


def _titled(book: Any) -> None:
    sheet = book.add_worksheet()
    sheet.merge_range("A1:C1", "Quarterly report")
    for row, cells in enumerate([("id", "name", "amount"), (1, "a", 10), (2, "b", 20)]):
        sheet.write_row(3 + row, 0, cells)


def _merged(book: Any) -> None:
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ("group", "n"))
    sheet.merge_range("A2:A3", "x")
    sheet.write(1, 1, 1)
    sheet.write(2, 1, 2)


def _with_error(book: Any) -> None:
    sheet = _table(book)
    sheet.write_formula(3, 2, "=1/0", None, "#DIV/0!")
    sheet.write_row(3, 0, (3, "c"))


def _two_sheets(book: Any) -> None:
    _table(book, "First")
    _table(book, "Second")


def _with_member(data: bytes, name: str, content: bytes) -> bytes:
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def spreadsheets() -> Iterator[Case]:
    rows: list[tuple[Any, ...]] = [(1, "a", 1.5), (2, "b", 2.0)]
    plain = lambda: workbook(_table)  # noqa: E731
    yield Case(
        "plain.xlsx",
        plain,
        Loads(2, rows, ["BIGINT", "VARCHAR", "DOUBLE"], ["id", "name", "amount"]),
    )
    yield Case(
        "macros.xlsm",
        lambda: _with_member(workbook(_table), "xl/vbaProject.bin", b"\xd0\xcf evil"),
        Loads(2, rows, notes={"macros"}),
    )
    yield Case(
        "dates.xlsx",
        lambda: workbook(_dated),
        Loads(
            2,
            [
                (moment(2024, 1, 2, 3, 4), True, "00123"),
                (moment(2024, 1, 3), False, "45678"),
            ],
            ["TIMESTAMP", "BOOLEAN", "VARCHAR"],
        ),
    )
    yield Case(
        "titled.xlsx", lambda: workbook(_titled), Loads(2, [(1, "a", 10), (2, "b", 20)], preamble=1)
    )
    yield Case(
        "merged.xlsx",
        lambda: workbook(_merged),
        Loads(2, [("x", 1), (None, 2)], notes={"merged-cells"}),
    )
    yield Case(
        "merged-filled.xlsx",
        lambda: workbook(_merged),
        Loads(2, [("x", 1), ("x", 2)]),
        Options(fill_merged=True),
    )
    yield Case(
        "errors.xlsx",
        lambda: workbook(_with_error),
        Loads(3, [*rows, (3, "c", None)], notes={"error-cells"}),
    )
    yield Case("two-sheets.xlsx", lambda: workbook(_two_sheets), Refused("which-table"))
    yield Case(
        "second-sheet.xlsx", lambda: workbook(_two_sheets), Loads(2, rows), Options(table="Second")
    )
    yield Case(
        "no-such-sheet.xlsx",
        lambda: workbook(_two_sheets),
        Refused("not-found"),
        Options(table="Third"),
    )
    yield Case(
        "empty-sheet.xlsx", lambda: workbook(lambda book: book.add_worksheet()), Refused("empty")
    )
    yield Case("cut.xlsx", lambda: workbook(_table)[:-200], Refused("damaged"))
    yield Case(
        "bomb.xlsx",
        lambda: _with_member(workbook(_table), "xl/big.bin", b"\0" * (10 << 20)),
        Refused("archive-bomb"),
    )
    yield Case("csv-named.xlsx", b"id,t\n1,a\n", Loads(1, [(1, "a")], notes={"mislabelled"}))
    yield Case(
        "html-named.xls",
        b"<html><table><tr><td>1</td></tr></table></html>",
        Refused("unsupported-format"),
    )
    yield Case("damaged.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, Refused("damaged"))
    yield Case(
        "letter.docx",
        lambda: zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"}),
        Refused("unsupported-format"),
    )


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def zstd(data: bytes) -> bytes:
    packed: bytes = arrow().compress(data, "zstd", asbytes=True)
    return packed


def _encrypted() -> bytes:
    data = bytearray(zipped({"a.csv": b"id,t\n1,a\n"}))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + offset] |= 1
    return bytes(data)


def _linked() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("a.csv")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return buffer.getvalue()


def archives() -> Iterator[Case]:
    table = b"id,t\n1,a\n2,b\n"
    rows: list[tuple[Any, ...]] = [(1, "a"), (2, "b")]
    once, zeros = gzip.compress(table), b"\0" * (1 << 20)
    yield Case("a.csv.gz", once, Loads(2, rows))
    yield Case("twice.csv.gz.gz", gzip.compress(once), Loads(2, rows))
    yield Case("thrice.gz", gzip.compress(gzip.compress(once)), Refused("nested-archive"))
    yield Case("joined.csv.gz", once + gzip.compress(b"3,c\n"), Loads(3, [*rows, (3, "c")]))
    yield Case("cut.csv.gz", gzip.compress(table * 100)[:-12], Refused("damaged"))
    yield Case("wrong-checksum.gz", once[:-8] + b"\0\0\0\0" + once[-4:], Refused("damaged"))
    yield Case("bomb.gz", lambda: gzip.compress(zeros * 10), Refused("archive-bomb"))
    yield Case("a.zip", zipped({"a.csv": table}), Loads(2, rows))
    yield Case("mac.zip", zipped({"a.csv": table, "__MACOSX/._a.csv": b"x"}), Loads(2, rows))
    yield Case("two.zip", zipped({"a.csv": table, "b.csv": table}), Refused("which-table"))
    yield Case(
        "chosen.zip",
        zipped({"a.csv": b"x", "b.csv": table}),
        Loads(2, rows, notes={"several-members"}),
        Options(table="b.csv"),
    )
    yield Case("zip-of-zip.zip", zipped({"in.zip": zipped({"a.csv": table})}), Loads(2, rows))
    yield Case(
        "deep.zip",
        zipped({"1.zip": zipped({"2.zip": zipped({"a.csv": table})})}),
        Refused("nested-archive"),
    )
    yield Case("bomb.zip", lambda: zipped({"a.csv": zeros * 10}), Refused("archive-bomb"))
    yield Case(
        "declared-bomb.zip",
        lambda: zipped({f"{i}.csv": zeros * 10 for i in range(5)}),
        Refused("archive-bomb"),
    )
    yield Case("slip.zip", zipped({"../../etc/passwd": table}), Refused("archive-path"))
    yield Case("absolute.zip", zipped({"/etc/passwd": table}), Refused("archive-path"))
    yield Case("backslash.zip", zipped({"..\\..\\x.csv": table}), Refused("archive-path"))
    yield Case("drive.zip", zipped({"C:\\x.csv": table}), Refused("archive-path"))
    yield Case("link.zip", _linked, Refused("archive-path"))
    yield Case("password.zip", _encrypted, Refused("encrypted"))
    yield Case("empty.zip", zipped({}), Refused("empty"))
    yield Case("cut.zip", zipped({"a.csv": table})[:-30], Refused("damaged"))
    yield Case(
        "sheet-in.zip",
        lambda: zipped({"book.xlsx": workbook(_two_sheets), "a.csv": table}),
        Loads(2, [(1, "a", 1.5), (2, "b", 2.0)]),
        Options(table="book.xlsx#Second"),
    )
    yield Case("a.csv.zst", lambda: zstd(table), Loads(2, rows))
    yield Case("cut.csv.zst", lambda: zstd(table * 1000)[:-10], Refused("damaged"))
    yield Case("bomb.zst", lambda: zstd(zeros * 10), Refused("archive-bomb"))


def sqlite_bytes(*statements: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        connection = sqlite3.connect(path)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return path.read_bytes()


def duckdb_bytes(*statements: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        connection = duckdb.connect(str(path))
        for statement in statements:
            connection.execute(statement)
        connection.close()
        return path.read_bytes()


def databases() -> Iterator[Case]:
    made = (
        "CREATE TABLE t (id INTEGER, name TEXT, price REAL, day DATE, raw BLOB)",
        "INSERT INTO t VALUES (1, 'a', 1.5, '2024-01-02', x'00ff'), (9007199254740993, NULL, 2, NULL, NULL)",
    )
    rows: list[tuple[Any, ...]] = [
        (1, "a", 1.5, dt.date(2024, 1, 2), b"\x00\xff"),
        (9007199254740993, None, 2.0, None, None),
    ]
    yield Case(
        "fine.sqlite",
        lambda: sqlite_bytes(*made),
        Loads(2, rows, ["BIGINT", "VARCHAR", "DOUBLE", "DATE", "BLOB"]),
    )
    yield Case(
        "mixed.sqlite",
        lambda: sqlite_bytes(
            "CREATE TABLE t (v)", "INSERT INTO t VALUES (1), ('x'), (2.5), (NULL)"
        ),
        Loads(4, [("1",), ("x",), ("2.5",), (None,)], ["VARCHAR"], notes={"mixed-storage"}),
    )
    yield Case(
        "bad-text.sqlite",
        lambda: sqlite_bytes(
            "CREATE TABLE t (v TEXT)", "INSERT INTO t VALUES ('ok'), (CAST(x'ff41' AS TEXT))"
        ),
        Loads(2, [("ok",)], rejects=[(2, "not valid UTF-8")]),
    )
    yield Case(
        "two-tables.sqlite",
        lambda: sqlite_bytes("CREATE TABLE a (x)", "CREATE TABLE b (x)"),
        Refused("which-table"),
    )
    yield Case(
        "views-only.sqlite", lambda: sqlite_bytes("CREATE VIEW v AS SELECT 1"), Refused("empty")
    )
    yield Case("cut.sqlite", lambda: sqlite_bytes(*made)[:4500], Refused("damaged"))
    yield Case(
        "scrambled.sqlite", lambda: sqlite_bytes(*made)[:100] + b"\xff" * 8092, Refused("damaged")
    )
    fine = ("CREATE TABLE t AS SELECT 1 AS id, 12::HUGEINT AS h, INTERVAL 3 DAY AS i",)
    yield Case(
        "fine.duckdb",
        lambda: duckdb_bytes(*fine),
        Loads(
            1,
            [(1, Decimal(12), "3 days")],
            ["INTEGER", "DECIMAL(38,0)", "VARCHAR"],
            notes={"kept-as-text"},
        ),
    )
    yield Case(
        "view-only.duckdb",
        lambda: duckdb_bytes("CREATE VIEW v AS SELECT * FROM read_text('/etc/passwd')"),
        Refused("empty"),
    )
    yield Case("cut.duckdb", lambda: duckdb_bytes(*fine)[:5000], Refused("damaged"))


def strangers() -> Iterator[Case]:
    noise = bytes((i * 7919 + i * i * 31) % 251 for i in range(4000))
    yield Case("noise.csv", noise, Refused("unsupported-format"))
    for name, data in {
        "paper.pdf": b"%PDF-1.7\n%\xe2\xe3",
        "picture.csv": b"\x89PNG\r\n\x1a\n\0\0",
        "program.csv": b"\x7fELF\x02\x01\x01" + b"\0" * 50,
        "pickle.csv": b"\x80\x04\x95\x10\0\0\0\0\0\0\0",
        "bundle.tar": b"a.csv".ljust(257, b"\0") + b"ustar\x0000" + b"\0" * 300,
        "page.csv": b"<!DOCTYPE html><html></html>",
        "feed.xml": b"<?xml version='1.0'?><a/>",
        "script.csv": b"#!/bin/sh\nrm -rf /\n",
        "old.bz2": b"BZh91AY&SY",
        "secret.parquet": b"PARE" + b"\0" * 40,
    }.items():
        yield Case(name, data, Refused("unsupported-format"), label=f"stranger-{name}")
