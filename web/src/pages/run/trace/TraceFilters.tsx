/** What of a trace is shown: by words, kind, length and errors. */
import { t } from '@lingui/core/macro';
import { Button, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import { memo, type RefObject } from 'react';
import classes from './trace.module.css';

export interface Filters {
  text: string;
  operation: string | null;
  errors: boolean;
  slowerThan: number | string;
}

export const NO_FILTERS: Filters = { text: '', operation: null, errors: false, slowerThan: '' };

const OPERATIONS = [
  { value: 'invoke_workflow', label: t`Runs` },
  { value: 'invoke_agent', label: t`Agents` },
  { value: 'plan', label: t`Plans` },
  { value: 'chat', label: t`Requests to models` },
  { value: 'execute_tool', label: t`Calls of tools` },
  { value: 'step', label: t`Steps` },
  { value: 'wait', label: t`Waits` },
  { value: 'failed attempt', label: t`Failed attempts` },
  { value: 'remote', label: t`Other programs` },
];

interface Props {
  filters: Filters;
  /** Stays the same while the trace scrolls. */
  onFilters: (change: (before: Filters) => Filters) => void;
  searchField: RefObject<HTMLInputElement | null>;
  hasErrors: boolean;
  onNextError: () => void;
}

export const TraceFilters = memo(function TraceFilters(props: Props) {
  const { filters, onFilters, searchField, hasErrors, onNextError } = props;
  const set = (change: Partial<Filters>) => onFilters((before) => ({ ...before, ...change }));
  return (
    <div className={classes.filters}>
      <TextInput
        ref={searchField}
        aria-label={t`Search spans`}
        placeholder={t`Search spans`}
        leftSection={<Search size={14} aria-hidden />}
        w="14rem"
        value={filters.text}
        onChange={({ currentTarget }) => set({ text: currentTarget.value })}
      />
      <Select
        aria-label={t`Kind of span`}
        placeholder={t`All kinds`}
        data={OPERATIONS}
        value={filters.operation}
        clearable
        clearButtonProps={{ 'aria-label': t`All kinds` }}
        w="12rem"
        onChange={(operation) => set({ operation })}
      />
      <NumberInput
        aria-label={t`Slower than, in milliseconds`}
        placeholder={t`Slower than … ms`}
        min={0}
        value={filters.slowerThan}
        onChange={(slowerThan) => set({ slowerThan })}
        className={classes.slower ?? ''}
      />
      <Switch
        label={t`Errors only`}
        checked={filters.errors}
        onChange={(event) => set({ errors: event.currentTarget.checked })}
      />
      {hasErrors && (
        <Button variant="default" size="xs" onClick={onNextError}>
          {t`Next error`}
        </Button>
      )}
    </div>
  );
});
