/** A flow as YAML, checked while one writes. */
import { plural, t } from '@lingui/core/macro';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { flowCheckQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { CodeField } from './CodeField';

const PAUSE = 350;

export const EXAMPLE_FLOW = `format: 1
id: trim_and_profile
name: Trim and profile
nodes:
  - id: trim
    type: tool
    tool: clean
    arguments:
      dataset: crm_customers
      operation: trim
  - id: profile
    type: tool
    tool: profile
    needs: [trim]
    arguments:
      dataset: crm_customers
`;

/** The check of what was written, a moment after the last key. */
export function useFlowCheck(text: string) {
  const project = useProject();
  const [settled] = useDebouncedValue(text, PAUSE);
  const query = useQuery(flowCheckQuery(project.id, settled));
  return { check: query.data, isChecking: query.isFetching || settled !== text };
}

interface Props {
  value: string;
  onChange: (value: string) => void;
  check: ReturnType<typeof useFlowCheck>;
}

export function FlowField({ value, onChange, check: { check, isChecking } }: Props) {
  const problems = (check?.problems ?? []).map(({ pointer, message }) => ({
    place: pointer === '' ? t`The flow` : pointer,
    message,
  }));
  const steps = (check?.flow?.nodes as unknown[] | undefined)?.length ?? 0;
  return (
    <CodeField
      label={t`Flow (YAML)`}
      description={t`Steps that call tools, ask people, branch and repeat; each names what it needs.`}
      value={value}
      onChange={onChange}
      problems={value.trim() === '' ? [] : problems}
      fine={
        check?.valid
          ? plural(steps, {
              one: `No problems found in ${steps} step.`,
              other: `No problems found in ${steps} steps.`,
            })
          : ''
      }
      isChecking={isChecking}
    />
  );
}
