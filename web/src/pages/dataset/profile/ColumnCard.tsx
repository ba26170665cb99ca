/** What is in one column. */
import { t } from '@lingui/core/macro';
import { Badge, Group, Text } from '@mantine/core';
import { ShieldAlert } from 'lucide-react';
import { typeName } from '@/components/column-types';
import { type Formats, useFormats } from '@/components/format';
import { Histogram, TopValues } from './Bars';
import classes from './profile.module.css';
import type { ColumnProfile } from './profile-types';

const PATTERNS_SHOWN = 3;

export function ColumnCard({ column }: { column: ColumnProfile }) {
  const formats = useFormats();
  const { name, type, filled, rows, histogram, top, text, notes, pii } = column;
  const meanings = column.meanings.filter(({ label }) =>
    pii.every((found) => found.label !== label),
  );
  return (
    <article className={classes.card} aria-label={name}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Text size="sm" fw={600} className={classes.name}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" title={type} flex="none">
          {typeName(type)}
        </Text>
      </Group>
      <Group gap={4}>
        {meanings.slice(0, 1).map(({ label, evidence }) => (
          <Badge key={label} size="xs" variant="light" title={evidence}>
            {label}
          </Badge>
        ))}
        {pii.map(({ label, check, confidence }) => (
          <Badge
            key={label}
            size="xs"
            variant="default"
            title={t`Personal data, ${confidence} confidence: ${check}`}
            leftSection={<ShieldAlert size={10} aria-hidden />}
          >
            {t`personal: ${label}`}
          </Badge>
        ))}
        {column.unique === true && (
          <Badge size="xs" variant="default">
            {t`unique`}
          </Badge>
        )}
        {column.constant && (
          <Badge size="xs" variant="default">
            {t`constant`}
          </Badge>
        )}
      </Group>
      <Filled filled={filled} rows={rows} />
      {histogram && histogram.counts.length > 1 ? (
        <Histogram column={name} counts={histogram.counts} labels={histogram.labels} />
      ) : (
        top.length > 0 && <TopValues values={top} rows={rows} />
      )}
      <dl className={classes.facts}>
        {factsOf(column, formats).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd title={value}>{value}</dd>
          </div>
        ))}
      </dl>
      {text && text.patterns.length > 0 && (
        <Text size="xs" c="dimmed" className={classes.patterns}>
          {t`Shapes: `}
          {text.patterns.slice(0, PATTERNS_SHOWN).map(({ shape, share }, index) => (
            <span key={shape}>
              {index > 0 && ', '}
              <code>{shape}</code> {percent(share, formats)}
            </span>
          ))}
        </Text>
      )}
      {notes.length > 0 && (
        <ul className={classes.notes}>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </article>
  );
}

function Filled({ filled, rows }: { filled: number; rows: number }) {
  const formats = useFormats();
  const share = rows === 0 ? 1 : filled / rows;
  const words = t`${percent(share, formats)} filled`;
  return (
    <div className={classes.filled}>
      <div className={classes.filledTrack} aria-hidden>
        <div style={{ width: `${share * 100}%` }} />
      </div>
      <Text size="xs" c="dimmed" className="tabular">
        {words}
      </Text>
    </div>
  );
}

/** Never "100 %" while something is missing. */
export function percent(share: number, formats: Formats): string {
  const rounded = share < 1 && share > 0.999 ? 0.999 : share;
  return new Intl.NumberFormat(formats.locale, {
    style: 'percent',
    maximumFractionDigits: 1,
  }).format(rounded);
}

function factsOf(column: ColumnProfile, formats: Formats): [string, string][] {
  const { distinct, distinct_exact, minimum, maximum, number, outliers, dates } = column;
  const facts: [string, string | null][] = [
    [t`Distinct`, `${distinct_exact ? '' : t`about `}${formats.number(distinct)}`],
    [t`Missing`, column.nulls > 0 ? formats.number(column.nulls) : null],
    [t`Lowest`, minimum],
    [t`Highest`, maximum],
    [t`Mean`, number?.mean == null || dates ? null : formats.number(number.mean)],
    [t`Outliers`, outliers && outliers.rows > 0 ? formats.number(outliers.rows) : null],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}
