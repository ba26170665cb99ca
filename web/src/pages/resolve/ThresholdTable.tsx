/** How likely a pair must be to be merged, and what other thresholds would give. */
import { t } from '@lingui/core/macro';
import { Button, NumberInput, Stack, Text } from '@mantine/core';
import type { Estimate } from '@/api/resolve';
import { useFormats } from '@/components/format';
import classes from './resolve.module.css';
import { DEFAULT_THRESHOLDS, type Rules } from './rules';

interface Props {
  steps: Estimate['steps'];
  rules: Rules | null;
  onChange: ((match: number) => void) | null;
}

export function ThresholdTable({ steps, rules, onChange }: Props) {
  const formats = useFormats();
  const current = rules?.thresholds?.match ?? DEFAULT_THRESHOLDS.match;
  return (
    <Stack gap="sm">
      <NumberInput
        label={t`Merge pairs from this probability on`}
        description={t`Higher merges less and leaves more duplicates; lower merges more and risks mixing up two.`}
        min={0.05}
        max={0.999}
        step={0.01}
        decimalScale={3}
        maw="24rem"
        value={current}
        disabled={onChange === null}
        onChange={(value) => {
          if (typeof value === 'number' && value >= 0.05 && value < 1) onChange?.(value);
        }}
      />
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className={classes.scroller} role="group" aria-label={t`Thresholds`} tabIndex={0}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t`Threshold`}</th>
              <th scope="col">{t`Pairs that match`}</th>
              <th scope="col">{t`Entities`}</th>
              <th scope="col">{t`Choose`}</th>
            </tr>
          </thead>
          <tbody>
            {steps.map(({ threshold, matches, entities }) => (
              <tr key={threshold} aria-current={threshold === current || undefined}>
                <th scope="row" className="tabular">
                  {formats.number(threshold)}
                </th>
                <td className="tabular">{formats.number(matches)}</td>
                <td className="tabular">{formats.number(entities)}</td>
                <td>
                  <Button
                    variant="default"
                    size="compact-xs"
                    disabled={onChange === null || threshold === current}
                    aria-label={
                      threshold === current
                        ? t`In use: ${formats.number(threshold)}`
                        : t`Use: ${formats.number(threshold)}`
                    }
                    onClick={() => onChange?.(threshold)}
                  >
                    {threshold === current ? t`In use` : t`Use`}
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Text size="xs" c="dimmed">
        {t`Entities of this table are chains of matching pairs; the count above also takes weak bridges apart.`}
      </Text>
    </Stack>
  );
}
