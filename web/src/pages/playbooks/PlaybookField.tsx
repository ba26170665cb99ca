/** A playbook as YAML, checked while one writes; each problem leads to its line. */
import { t } from '@lingui/core/macro';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { playbookCheckQuery } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { CodeField } from '@/components/CodeField';
import { lineOf } from './states';

const PAUSE = 350;

export const EXAMPLE_PLAYBOOK = `format: 1
id: my-playbook
name: My playbook
goal: Say in a sentence what it is for.
inputs:
  type: object
  properties:
    dataset:
      type: string
      title: Dataset
  required:
  - dataset
budget:
  usd: 1
  seconds: 600
steps:
- id: profile
  title: Profile the dataset
  tool: profile
  arguments:
    dataset: \${inputs.dataset}
- id: good_enough
  title: Good enough?
  question: Is the dataset good enough to go on?
  form:
    type: boolean
`;

/** The check of what was written, a moment after the last key. */
export function usePlaybookCheck(text: string) {
  const project = useProject();
  const [settled] = useDebouncedValue(text, PAUSE);
  const query = useQuery(playbookCheckQuery(project.id, settled));
  return { check: query.data, isChecking: query.isFetching || settled !== text };
}

interface Props {
  value: string;
  onChange: (value: string) => void;
  check: ReturnType<typeof usePlaybookCheck>;
  readOnly?: boolean;
}

export function PlaybookField({ value, onChange, check, readOnly = false }: Props) {
  const problems = (check.check?.problems ?? []).map(({ pointer, message }) => {
    const { text, line } = lineOf(message);
    const named = pointer === '' ? t`The playbook` : pointer;
    return {
      place: line === undefined ? named : t`Line ${line}, ${named}`,
      message: text,
      ...(line === undefined ? {} : { line }),
    };
  });
  return (
    <CodeField
      label={t`Playbook (YAML)`}
      description={t`Goal, inputs, steps, budget, triggers; what it says is what runs.`}
      value={value}
      onChange={onChange}
      problems={value.trim() === '' || readOnly ? [] : problems}
      fine={check.check?.valid && !readOnly ? t`No problems found.` : ''}
      isChecking={check.isChecking && !readOnly}
      readOnly={readOnly}
      minRows={16}
    />
  );
}
