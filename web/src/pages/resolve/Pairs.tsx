/** The pairs that are hard to tell, side by side, with the evidence; a person's word overrides every score. */
import { t } from '@lingui/core/macro';
import { Badge, Button, Group, Text } from '@mantine/core';
import { Check } from 'lucide-react';
import type { Pair, Side } from '@/api/resolve';
import { CellText } from '@/components/CellText';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import classes from './resolve.module.css';
import { decisionOn, inWords, type Rules } from './rules';
import { Weight } from './Weight';

interface Props {
  pairs: Pair[];
  /** How many there are; the page holds the nearest to the threshold. */
  total: number;
  rules: Rules | null;
  onDecide: ((pair: Pair, same: boolean | null) => void) | null;
}

export function Pairs({ pairs, total, rules, onDecide }: Props) {
  const formats = useFormats();
  if (pairs.length === 0) {
    return (
      <EmptyState icon={Check} title={t`No pair is in doubt`}>
        {t`Every pair is clearly the same or clearly different under these rules.`}
      </EmptyState>
    );
  }
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {total > pairs.length
          ? t`The ${formats.number(pairs.length)} nearest to the threshold of ${formats.number(total)}. Say which are the same: your word counts more than any score.`
          : t`Say which are the same: your word counts more than any score.`}
      </Text>
      <ol className={classes.pairs}>
        {pairs.map((pair) => (
          <PairItem
            key={`${nameOf(pair.left)} ${nameOf(pair.right)}`}
            pair={pair}
            decision={decisionOn(rules, pair)}
            onDecide={onDecide && ((same) => onDecide(pair, same))}
          />
        ))}
      </ol>
    </>
  );
}

const nameOf = ({ table, row }: Side) => `${table} ${row}`;

interface ItemProps {
  pair: Pair;
  decision: boolean | undefined;
  onDecide: ((same: boolean | null) => void) | null;
}

function PairItem({ pair, decision, onDecide }: ItemProps) {
  const formats = useFormats();
  const percent = new Intl.NumberFormat(formats.locale, {
    style: 'percent',
    maximumFractionDigits: 1,
  });
  const { left, right, evidence, probability, merged } = pair;
  const compared = evidence.filter(({ weight }) => weight !== 0);
  const others = evidence.filter(
    ({ weight, left: a, right: b }) => weight === 0 && (a !== null || b !== null),
  );
  const title = t`${nameOf(left)} and ${nameOf(right)}`;
  return (
    <li className={classes.pair} aria-label={title}>
      <Group justify="space-between" gap="xs">
        <Group gap={8}>
          <Badge variant={merged ? 'light' : 'default'}>
            {merged ? t`would be merged` : t`would stay apart`}
          </Badge>
          <Text size="sm" className="tabular">
            {t`${percent.format(probability)} likely the same`}
          </Text>
        </Group>
        {onDecide && (
          <Group gap={6} role="group" aria-label={t`Decide on ${title}`}>
            {([true, false] as const).map((same) => (
              <Button
                key={String(same)}
                size="compact-sm"
                variant={decision === same ? 'filled' : 'default'}
                aria-pressed={decision === same}
                onClick={() => onDecide(decision === same ? null : same)}
              >
                {same ? t`The same` : t`Different`}
              </Button>
            ))}
          </Group>
        )}
      </Group>
      <div
        className={classes.scroller}
        role="group"
        aria-label={t`Evidence: ${title}`}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
      >
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t`Field`}</th>
              <SideHeader side={left} />
              <SideHeader side={right} />
              <th scope="col">{t`Agreement`}</th>
              <th scope="col">{t`Evidence`}</th>
            </tr>
          </thead>
          <tbody>
            {[...compared, ...others].map(({ field, level, weight, left: a, right: b }) => (
              <tr key={field} data-quiet={weight === 0}>
                <th scope="row">{inWords(field)}</th>
                <td>
                  <CellText value={a} />
                </td>
                <td>
                  <CellText value={b} />
                </td>
                <td>{level}</td>
                <td>{weight !== 0 && <Weight bits={weight} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </li>
  );
}

function SideHeader({ side }: { side: Side }) {
  const formats = useFormats();
  return (
    <th scope="col">
      {side.table} · {side.row}
      {side.rows > 1 && t` and ${formats.number(side.rows - 1)} more rows`}
    </th>
  );
}
