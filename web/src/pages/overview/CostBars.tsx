/** Spending by day in bars, with the coming week as forecast and the budgets of the project by the day. */
import { t } from '@lingui/core/macro';
import { Text, Tooltip } from '@mantine/core';
import type { BudgetItem } from '@/api/budgets';
import type { Costs } from '@/api/observe';
import { compact, dollarRange, dollars } from '@/components/amounts';
import { type Formats, useFormats } from '@/components/format';
import classes from './overview.module.css';
import { PERIOD_NAMES } from './period-words';

/** More colours could not be told apart. */
const COLOURS = ['#127a75', '#b7791f', '#4c6ef5', '#c2255c', '#5c940d', '#7048e8'];
export const OTHERS = '#868e96';
const DAY = 86_400_000;
/** A budget this many times above everything spent would flatten the bars, so it is only named. */
const FAR_ABOVE = 3;

export interface Bar {
  name: string;
  title: string;
}

export function colourOf(index: number): string {
  return COLOURS[index] ?? OTHERS;
}

interface Props {
  costs: Costs;
  /** The largest first. */
  bars: Bar[];
  budgets: BudgetItem[];
}

export function CostBars({ costs, bars, budgets }: Props) {
  const formats = useFormats();
  const byMoney = costs.usd > 0;
  const start = Date.parse(costs.first);
  const count = Math.round((Date.parse(costs.last) - start) / DAY) + 1;
  const days = Array.from({ length: count }, () => new Map<string, number>());
  for (const line of costs.lines) {
    const at = days[Math.round((Date.parse(line.day) - start) / DAY)];
    at?.set(line.name, (at.get(line.name) ?? 0) + (byMoney ? line.usd : line.count));
  }
  const next = byMoney ? dailyForecast(costs) : null;
  const spent = Math.max(...days.map(total), next?.high ?? next?.usd ?? 0, Number.MIN_VALUE);
  const limits = byMoney ? budgets.map((budget) => ({ budget, usd: dailyLimit(budget) })) : [];
  const drawn = limits.filter(({ usd }) => usd <= spent * FAR_ABOVE);
  const most = Math.max(spent, ...drawn.map(({ usd }) => usd));
  const share = (value: number) => `${(value / most) * 100}%`;
  const amount = (value: number) =>
    byMoney ? dollars(formats, value) : t`${formats.number(value)} requests and calls`;
  const dayName = (index: number) => formats.date(`${isoDay(start, index)}T12:00:00Z`);
  return (
    <>
      {!byMoney && (
        <Text size="sm" c="dimmed" px="sm" pt="xs">
          {t`Nothing had a price, so the bars count requests and calls.`}
        </Text>
      )}
      <p className={classes.scale}>
        <span>
          {byMoney ? dollars(formats, most) : compact(formats, most)}
          {byMoney && t` a day`}
        </span>
      </p>
      <div className={classes.bars} role="img" aria-label={t`By day; the table below has the sums`}>
        {days.map((day, index) => (
          <Tooltip key={isoDay(start, index)} label={`${dayName(index)}: ${amount(total(day))}`}>
            <div className={classes.bar}>
              {bars.map(({ name }, at) => (
                <span
                  key={name}
                  style={{ height: share(day.get(name) ?? 0), background: colourOf(at) }}
                />
              ))}
            </div>
          </Tooltip>
        ))}
        {next !== null && (
          <Tooltip
            label={t`Next ${next.days} days: about ${dollarRange(formats, next)} a day`}
            multiline
          >
            <div className={classes.ahead} style={{ flexGrow: next.days }}>
              <span style={{ bottom: 0, height: share(next.usd) }} />
              {next.low !== null && next.high !== null && (
                <span
                  className={classes.band}
                  style={{ bottom: share(next.low), height: share(next.high - next.low) }}
                />
              )}
            </div>
          </Tooltip>
        )}
        {drawn.map(({ budget, usd }) => (
          <span key={budget.id} className={classes.limit} style={{ bottom: share(usd) }} />
        ))}
      </div>
      <p className={classes.scale}>
        <span>{dayName(0)}</span>
        <span>
          {next === null ? dayName(count - 1) : t`Forecast to ${dayName(count - 1 + next.days)}`}
        </span>
      </p>
      <ul className={classes.legend}>
        {bars.slice(0, COLOURS.length).map(({ name, title }, at) => (
          <li key={name}>
            <span className={classes.swatch} style={{ background: colourOf(at) }} aria-hidden />
            {title}
          </li>
        ))}
        {bars.length > COLOURS.length && (
          <li>
            <span className={classes.swatch} style={{ background: OTHERS }} aria-hidden />
            {t`${formats.number(bars.length - COLOURS.length)} others`}
          </li>
        )}
        {limits.map((each) => (
          <li key={each.budget.id}>
            <span className={classes.dashes} aria-hidden />
            {limitText(formats, each, drawn.includes(each))}
          </li>
        ))}
      </ul>
    </>
  );
}

function limitText(
  formats: Formats,
  { budget, usd }: { budget: BudgetItem; usd: number },
  isDrawn: boolean,
): string {
  const perDay = budget.period === 'day' ? '' : t`, which is ${dollars(formats, usd)} for each day`;
  const outside = isDrawn ? '' : t` (above this chart)`;
  return t`Budget: ${dollars(formats, budget.usd.limit ?? 0)} per ${PERIOD_NAMES[budget.period]}${perDay}${outside}`;
}

/** What a budget leaves for each day of its period. */
function dailyLimit({ usd, starts_at, resets_at }: BudgetItem): number {
  return (usd.limit ?? 0) / Math.max(1, (Date.parse(resets_at) - Date.parse(starts_at)) / DAY);
}

/** The nearest forecast, for each of its days. */
function dailyForecast({ forecasts }: Costs) {
  const [next] = forecasts;
  if (next === undefined) return null;
  const { days, usd, low, high } = next;
  return {
    days,
    usd: usd / days,
    low: low === null ? null : low / days,
    high: high === null ? null : high / days,
  };
}

function total(day: Map<string, number>): number {
  return [...day.values()].reduce((a, b) => a + b, 0);
}

function isoDay(start: number, index: number): string {
  return new Date(start + index * DAY).toISOString().slice(0, 10);
}
