"""Programs for the Python guard that are run: honest ones with what analysts use, and sly ones that hide what they read."""

HONEST_PROGRAMS = [
    """\
import datetime
result = str(datetime.datetime.strptime('2026-01-02','%Y-%m-%d'))
""",
    """\
import time
result = time.strptime('2026','%Y').tm_year
""",
    """\
import pandas as pd, numpy as np
df = con.execute('SELECT * FROM orders').df()
df['s'] = df['amount'].map('{:.2f}'.format)
result = df.query('g == 1').groupby('g')['amount'].sum().to_dict()
""",
    """\
import pandas as pd
df = con.sql('SELECT * FROM orders').df()
df['month'] = pd.to_datetime(df['day']).dt.to_period('M').astype(str)
result_df = df.pivot_table(index='month', columns='g', values='amount', aggfunc='sum').reset_index()
""",
    """\
import polars as pl
import polars.selectors as cs
df = con.sql('SELECT * FROM orders').pl()
result_df = df.group_by('g').agg(pl.col('amount').sum()).sort('g').select(cs.numeric())
""",
    """\
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
rng = np.random.default_rng(1)
result = [float(np.linalg.norm([3,4])), sliding_window_view(np.arange(5), 2).tolist(), np.polynomial.Polynomial([1,2])(2)]
""",
    """\
import pandas as pd
result = [pd.api.types.is_numeric_dtype(pd.Series([1])), str(pd.offsets.MonthEnd(1)), str(pd.Timestamp('2026-01-01')+pd.DateOffset(months=1))]
""",
    """\
import pandas.api.types as t
from pandas.api.types import is_string_dtype
import numpy.linalg as la
from collections.abc import Iterable
import collections.abc
result=[str(la.det([[1,0],[0,1]])), isinstance([], collections.abc.Iterable)]
""",
    """\
import altair as alt, pandas as pd
chart = alt.Chart(pd.DataFrame({'a':[1,2],'b':[3,4]})).mark_bar().encode(x='a:O', y='b:Q')
""",
    """\
import functools
def deco(f):
    @functools.wraps(f)
    def inner(*a):
        return f(*a)
    return inner
@deco
def g(x): return x+1
@functools.lru_cache(maxsize=None)
def fib(n): return n if n<2 else fib(n-1)+fib(n-2)
result=[g(1), fib(30), functools.reduce(lambda a,b:a+b,[1,2,3])]
""",
    """\
from dataclasses import dataclass, field, asdict
from enum import Enum
from typing import NamedTuple, Optional
class C(Enum):
    A=1
@dataclass
class P:
    x: int
    y: list = field(default_factory=list)
class N(NamedTuple):
    a: int
result=[asdict(P(1)), C.A.name, N(1)._asdict()]
""",
    """\
t = 'Name: {name}, {0:>5} {1[k]} {2.year}'
import datetime
result = t.format(1, {'k': 2}, datetime.date(2026,1,1), name='x') + '{a}'.format_map({'a': 1}) + ''.join(map('{}!'.format, [1,2]))
""",
    """\
import json
try:
    json.loads('{')
except json.decoder.JSONDecodeError as e:
    result = str(e)
""",
    """\
import string
string = 'abc'
result = string.upper()
""",
    """\
import statistics, random, uuid, hashlib, base64, calendar, zoneinfo, decimal, itertools, re, textwrap, difflib, heapq, bisect, copy, pprint, warnings
warnings.filterwarnings('ignore')
result=[statistics.mean([1,2]), len(str(uuid.uuid4())), hashlib.sha256(b'x').hexdigest()[:4], base64.b64encode(b'x').decode(), calendar.monthrange(2026,1)[1], str(zoneinfo.ZoneInfo('Europe/Berlin')), str(decimal.Decimal('1.1').quantize(decimal.Decimal('1'))), re.sub('a','b','aa'), copy.deepcopy([1]), textwrap.shorten('a b c', 5)]
""",
    """\
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
t = pa.table({'a':[1,2]})
pq.write_table(t, str(scratch / 'x.parquet'))
result = pc.sum(t['a']).as_py()
""",
    """\
import duckdb
result = duckdb.sql('SELECT 42').fetchall()[0][0]
""",
]

SLY_PROGRAMS = [
    """\
t = '{0.__class__}'
result = t.format(1)
""",
    """\
t = '{0.__class__}'
result = getattr(t, 'format')(1)
""",
    """\
t = '{0[0].__class__}'
result = t.format([1])
""",
    """\
t = '{:{0.__class__}}'
result = t.format(1)
""",
    """\
t = '{a.__class__}'
result = t.format_map({'a':1})
""",
    """\
f = str.join
x = [str][0]
result = x.format('{0.__class__}', 1)
""",
    """\
import enum
e = enum
result = e.bltns
""",
    """\
import csv as c
d=[c]
result = str(d[0].io)
""",
    """\
import numpy
n=[numpy][0]
result=str(n.core)
""",
    """\
from pandas import io
result=1
""",
    """\
from numpy import lib
result=str(lib.format)
""",
    """\
import pandas as pd
df=pd.DataFrame({'a':[1]})
result=str(df.agg('eval', 0, 'a.__class__'))
""",
    """\
import pandas as pd
df=pd.DataFrame({'a':[1]})
result=str(df.apply('eval', 0, args=('a.__class__',)))
""",
    """\
import pandas as pd
m='query'
df=pd.DataFrame({'a':[1]})
result=str(getattr(df,m)('a.__class__ == 1'))
""",
    """\
import string
result = string.Formatter().get_field('0.get_field.__globals__', [string.Formatter()], {})
""",
    "import locale",
    """\
import functools
class W:
    pass
result = functools.update_wrapper(W(), print, assigned=['__self__'])
""",
    """\
u = 'update_wrapper'
import functools
result = getattr(functools, u)
""",
    """\
import functools
result = functools.wraps(print, assigned=['__self__'])
""",
    """\
import typing
t = [typing][0]
result = t.get_type_hints
""",
    """\
import dataclasses as d
m = [d][0]
result = m.make_dataclass('A', [], namespace={'__getattribute__': print})
""",
    """\
import operator
o = [operator][0]
result = getattr(o, 'attr' + 'getter')('__class__')(1)
""",
    """\
import uuid
u = [uuid][0]
result = u.os.getcwd()
""",
    """\
from random import _os
result = _os
""",
    "import numpy.lib.format",
    """\
from numpy.lib.stride_tricks import as_strided
result = 1
""",
    """\
import polars as pl
p = [pl][0]
result = p.contextlib
""",
    """\
class T(str):
    pass
result = T('{0.__class__}').format(1)
""",
    "result = sorted([1], key='{0.__class__}'.format)",
    """\
f = '{0.real.__class__}'.format
result = f(1)
""",
]
