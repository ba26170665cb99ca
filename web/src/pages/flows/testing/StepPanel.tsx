/** One step of a test: its output beside that of the last good run; pinned, or paused before. */
import { t } from '@lingui/core/macro';
import { Button, Group, Stack, Switch, Text, Textarea } from '@mantine/core';
import { Pin, PinOff } from 'lucide-react';
import { useState } from 'react';
import type { NodeResult } from '@/api/playbook-tests';
import { StateChip } from '@/components/Chip';
import { ValueDifference } from '@/components/ValueDifference';
import { ValueView } from '@/components/ValueView';

interface Props {
  step: string;
  title: string;
  result: NodeResult | undefined;
  mock: unknown;
  isMocked: boolean;
  isBreakpoint: boolean;
  onMock: (value: unknown, isKept: boolean) => void;
  onBreakpoint: (isSet: boolean) => void;
}

export function StepPanel(props: Props) {
  const { step, title, result, isMocked, isBreakpoint, onMock, onBreakpoint } = props;
  // What a later run gives is offered, unless something was typed.
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? JSON.stringify(toPin(props), null, 2);
  const value = read(text);
  return (
    <section aria-label={t`Step ${step}`}>
      <Stack gap="xs">
        <Group gap="xs">
          <Text fw={600}>{title}</Text>
          {result && <StateChip state={result.differs ? 'differs' : result.state} />}
        </Group>
        {result && (
          <>
            <Text size="sm" c="dimmed">
              {t`Output`}
            </Text>
            <ValueView label={t`Output of ${step}`} value={result.output} />
            {result.differs && (
              <>
                <Text size="sm" c="dimmed">
                  {t`In the last good run`}
                </Text>
                <ValueView
                  label={t`Output of ${step} in the last good run`}
                  value={result.before}
                />
                <Text size="sm" c="dimmed">
                  {t`What differs`}
                </Text>
                <ValueDifference
                  label={t`What differs in ${step}`}
                  before={result.before}
                  after={result.output}
                />
              </>
            )}
          </>
        )}
        <Textarea
          label={t`Output to pin, as JSON`}
          autosize
          minRows={1}
          maxRows={8}
          spellCheck={false}
          value={text}
          error={value === null ? t`This is not JSON.` : null}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<Pin size={13} aria-hidden />}
            disabled={value === null}
            onClick={() => {
              if (value === null) return;
              onMock(value.found, true);
              setTyped(null);
            }}
          >
            {isMocked ? t`Pin this instead` : t`Pin`}
          </Button>
          {isMocked && (
            <Button
              size="xs"
              variant="subtle"
              leftSection={<PinOff size={13} aria-hidden />}
              onClick={() => {
                onMock(null, false);
                setTyped(null);
              }}
            >
              {t`Unpin`}
            </Button>
          )}
        </Group>
        <Switch
          label={t`Pause before this step`}
          checked={isBreakpoint}
          onChange={({ currentTarget }) => onBreakpoint(currentTarget.checked)}
        />
      </Stack>
    </section>
  );
}

/** What is pinned, or what the step gave; an error is no output to go on with. */
function toPin({ isMocked, mock, result }: Props): unknown {
  if (isMocked) return mock;
  return result === undefined || result.state === 'failed' ? null : result.output;
}

function read(text: string): { found: unknown } | null {
  try {
    return { found: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}
