/** Asks when something repeats: days, a time and a time zone; the next dates are shown below. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import {
  Button,
  Group,
  Input,
  NumberInput,
  Select,
  Stack,
  Text,
  TextInput,
  type SelectProps,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ApiError } from '@/api/errors';
import { momentsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { useFormats } from '../format';
import {
  cronOf,
  DEFAULT_CRON,
  type Every,
  HOURS,
  MINUTES,
  type Timing,
  timeZones,
  timingOf,
  WEEKDAY_NAMES,
  WEEKDAYS,
} from './timing';

export interface ScheduleValue {
  /** Null: only when somebody starts it. */
  cron: string | null;
  timeZone: string;
}

interface Props {
  value: ScheduleValue;
  onChange: (value: ScheduleValue) => void;
  /** Whether "only when I start it" is a choice. */
  allowsByHand?: boolean;
  readOnly?: boolean;
}

const EVERY: { value: Every; label: string }[] = [
  { value: 'day', label: t`Every day` },
  { value: 'week', label: t`Every week` },
  { value: 'weekdays', label: t`On these weekdays` },
  { value: 'month', label: t`On a day of the month` },
  { value: 'hours', label: t`Every few hours` },
  { value: 'minutes', label: t`Every few minutes` },
  { value: 'cron', label: t`Cron expression (for experts)` },
];
const BY_HAND = 'hand';

export function ScheduleFields({ value, onChange, allowsByHand, readOnly = false }: Props) {
  const [timing, setTiming] = useState(() => timingOf(value.cron ?? DEFAULT_CRON));
  // Undo and other editors change the expression from outside.
  const outside = value.cron !== null && cronOf(timing) !== null && cronOf(timing) !== value.cron;
  const shown = outside ? timingOf(value.cron ?? '') : timing;
  const change = (part: Partial<Timing>) => {
    const next = { ...shown, ...part };
    setTiming(next);
    const cron = cronOf(next);
    if (cron !== null) onChange({ ...value, cron });
  };
  const choose = (every: string | null) => {
    if (every === BY_HAND) return onChange({ ...value, cron: null });
    const cron = cronOf(shown) ?? DEFAULT_CRON;
    const weekdays = every === 'week' ? shown.weekdays.slice(0, 1) : shown.weekdays;
    change({ every: every as Every, weekdays, cron, count: 1 });
  };
  const options = allowsByHand
    ? [{ value: BY_HAND, label: t`Only when I start it` }, ...EVERY]
    : EVERY;
  const isByHand = value.cron === null;
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-start">
        <Choice
          label={t`When`}
          w="16rem"
          data={options}
          value={isByHand ? BY_HAND : shown.every}
          disabled={readOnly}
          onChange={choose}
        />
        {!isByHand && <Details timing={shown} readOnly={readOnly} onChange={change} />}
        {!isByHand && (
          <Choice
            label={t`Time zone`}
            w="14rem"
            data={timeZones()}
            value={value.timeZone}
            disabled={readOnly}
            searchable
            limit={60}
            onChange={(timeZone) => onChange({ ...value, timeZone: timeZone ?? 'UTC' })}
          />
        )}
      </Group>
      {value.cron !== null && <NextMoments cron={value.cron} timeZone={value.timeZone} />}
    </Stack>
  );
}

/** A choice that is always made. */
function everyFew(unit: 'minutes' | 'hours', count: number): string {
  return unit === 'minutes'
    ? plural(count, { one: `Every minute`, other: `Every ${count} minutes` })
    : plural(count, { one: `Every hour`, other: `Every ${count} hours` });
}

function Choice(props: SelectProps) {
  return <Select allowDeselect={false} maw="100%" {...props} />;
}

interface DetailsProps {
  timing: Timing;
  readOnly: boolean;
  onChange: (part: Partial<Timing>) => void;
}

function Details({ timing, readOnly, onChange }: DetailsProps) {
  const { every, time, day, count, cron } = timing;
  if (every === 'cron')
    return (
      <TextInput
        label={t`Cron expression`}
        description={t`Minute, hour, day of the month, month, weekday.`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={cron}
        disabled={readOnly}
        onChange={({ currentTarget }) => onChange({ cron: currentTarget.value })}
      />
    );
  if (every === 'minutes' || every === 'hours') {
    const counts: readonly number[] = every === 'minutes' ? MINUTES : HOURS;
    return (
      <>
        <Choice
          label={t`How often`}
          w="11rem"
          data={counts.map((each) => ({
            value: String(each),
            label: everyFew(every, each),
          }))}
          value={String(count)}
          disabled={readOnly}
          onChange={(next) => onChange({ count: Number(next) })}
        />
        {every === 'hours' && (
          <NumberInput
            label={t`At minute`}
            w="6rem"
            min={0}
            max={59}
            clampBehavior="strict"
            allowDecimal={false}
            value={Number(time.slice(3))}
            disabled={readOnly}
            onChange={(minute) =>
              onChange({ time: `00:${String(Number(minute) || 0).padStart(2, '0')}` })
            }
          />
        )}
      </>
    );
  }
  return (
    <>
      {every === 'week' && (
        <Choice
          label={t`On`}
          w="9rem"
          data={WEEKDAYS.map((each) => ({ value: String(each), label: WEEKDAY_NAMES[each] }))}
          value={String(timing.weekdays[0] ?? 1)}
          disabled={readOnly}
          onChange={(next) => onChange({ weekdays: [Number(next)] })}
        />
      )}
      {every === 'weekdays' && <Weekdays {...{ timing, readOnly, onChange }} />}
      {every === 'month' && (
        <Choice
          label={t`Day`}
          w="9rem"
          data={[
            ...Array.from({ length: 31 }, (_, index) => String(index + 1)),
            { value: 'L', label: t`The last day` },
          ]}
          value={day}
          disabled={readOnly}
          onChange={(next) => onChange({ day: next ?? '1' })}
        />
      )}
      <TextInput
        type="time"
        label={t`At`}
        value={time}
        disabled={readOnly}
        onChange={({ currentTarget }) => onChange({ time: currentTarget.value })}
      />
    </>
  );
}

function Weekdays({ timing, readOnly, onChange }: DetailsProps) {
  const id = useId();
  const toggle = (day: number) => {
    const isOn = timing.weekdays.includes(day);
    const next = WEEKDAYS.filter((each) => (each === day ? !isOn : timing.weekdays.includes(each)));
    if (next.length > 0) onChange({ weekdays: next });
  };
  return (
    <div role="group" aria-labelledby={id}>
      <Input.Label id={id} component="span" labelElement="div">
        {t`On`}
      </Input.Label>
      <Group gap={4}>
        {WEEKDAYS.map((day) => (
          <Button
            key={day}
            size="sm"
            px={8}
            variant={timing.weekdays.includes(day) ? 'filled' : 'default'}
            aria-pressed={timing.weekdays.includes(day)}
            disabled={readOnly}
            onClick={() => toggle(day)}
          >
            {WEEKDAY_NAMES[day].slice(0, 3)}
          </Button>
        ))}
      </Group>
    </div>
  );
}

/** The next three dates, as the server counts them. */
function NextMoments({ cron, timeZone }: { cron: string; timeZone: string }) {
  const project = useProject();
  const formats = useFormats();
  const [asked] = useDebouncedValue(cron, 250);
  const query = useQuery(momentsQuery(project.id, asked, timeZone));
  if (query.error)
    return (
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        {query.error instanceof ApiError ? query.error.detail : query.error.message}
      </Text>
    );
  const date = new Intl.DateTimeFormat(formats.locale, {
    ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: 'numeric', minute: '2-digit', timeZone },
  });
  const moments = query.data ?? [];
  return (
    <Text size="sm" c="dimmed" mih="1.5em" aria-live="polite">
      {moments.length > 0 && (
        <>
          <Trans>
            Next:{' '}
            {moments.map((moment, index) => (
              <span key={moment}>
                {index > 0 && ' · '}
                <time dateTime={moment} style={{ whiteSpace: 'nowrap' }}>
                  {date.format(new Date(moment))}
                </time>
              </span>
            ))}{' '}
            ({timeZone})
          </Trans>
        </>
      )}
    </Text>
  );
}

const UNITS = [
  { value: '86400', label: t`days` },
  { value: '3600', label: t`hours` },
  { value: '60', label: t`minutes` },
  { value: '1', label: t`seconds` },
];

interface IntervalProps {
  seconds: number;
  readOnly: boolean;
  onChange: (seconds: number) => void;
}

/** A distance from one start to the next, in the largest unit that fits. */
export function IntervalFields({ seconds, readOnly, onChange }: IntervalProps) {
  const fitting = UNITS.find(({ value }) => seconds % Number(value) === 0)?.value ?? '1';
  const [unit, setUnit] = useState(fitting);
  const size = seconds % Number(unit) === 0 ? unit : fitting;
  return (
    <Group gap="sm" align="flex-end" wrap="nowrap">
      <NumberInput
        label={t`Every`}
        min={1}
        allowDecimal={false}
        value={seconds / Number(size)}
        disabled={readOnly}
        onChange={(count) => Number(count) >= 1 && onChange(Number(count) * Number(size))}
      />
      <Choice
        aria-label={t`Unit`}
        data={UNITS}
        value={size}
        disabled={readOnly}
        onChange={(next) => {
          const chosen = next ?? '60';
          setUnit(chosen);
          onChange((seconds / Number(size)) * Number(chosen));
        }}
      />
    </Group>
  );
}

const MISSED = [
  { value: 'once', label: t`Start once when Steward is back` },
  { value: 'skip', label: t`Skip the missed starts` },
  { value: 'all', label: t`Start once for each missed time` },
  { value: 'ask', label: t`Ask me` },
];

interface MissedProps {
  value: string;
  onChange: (value: string) => void;
}

export function MissedField({ value, onChange }: MissedProps) {
  return (
    <Choice
      label={t`If Steward was not running`}
      maw="20rem"
      data={MISSED}
      value={value}
      onChange={(next) => onChange(next ?? 'once')}
    />
  );
}
