/** The head of a column: its name, which sorts, its type, and a menu with filter and type. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Group, Popover, Select, Stack, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, Ellipsis, Filter } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import type { ColumnInfo, FilterOperator, RowFilter } from '@/api/data-types';
import { isNumeric, typeName } from '@/components/column-types';
import { type Direction, OPERATORS, takesValue } from './filters';
import classes from './grid.module.css';

interface Props {
  column: ColumnInfo;
  index: number;
  width: number;
  direction: Direction;
  filter: RowFilter | undefined;
  /** Where the column's type is changed; unset for those who may not. */
  retypeAddress: string | undefined;
  onSort: () => void;
  onFilter: (filter: RowFilter | null) => void;
}

export function ColumnHeader(props: Props) {
  const { column, index, width, direction, filter, retypeAddress, onSort, onFilter } = props;
  const [opened, setOpened] = useState(false);
  return (
    <div
      role="columnheader"
      aria-colindex={index + 2}
      aria-sort={direction}
      className={classes.header}
      data-numeric={isNumeric(column.type)}
      style={{ width }}
    >
      <button type="button" className={classes.sort} onClick={onSort} title={column.name}>
        <span className={classes.name}>
          {column.name}
          {direction === 'ascending' && <ArrowUp size={12} aria-hidden />}
          {direction === 'descending' && <ArrowDown size={12} aria-hidden />}
        </span>
        <span className={classes.type} title={column.type}>
          {typeName(column.type)}
        </span>
      </button>
      <Popover opened={opened} onChange={setOpened} position="bottom-end" trapFocus returnFocus>
        <Popover.Target>
          <ActionIcon
            variant={filter ? 'light' : 'subtle'}
            color={filter ? 'steward' : 'gray'}
            size="sm"
            aria-label={filter ? t`Filter ${column.name} (filtered)` : t`Filter ${column.name}`}
            onClick={() => setOpened(!opened)}
          >
            {filter ? <Filter size={13} aria-hidden /> : <Ellipsis size={13} aria-hidden />}
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown>
          <FilterForm
            column={column}
            filter={filter}
            retypeAddress={retypeAddress}
            onDone={(changed) => {
              setOpened(false);
              onFilter(changed);
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </div>
  );
}

interface FormProps {
  column: ColumnInfo;
  filter: RowFilter | undefined;
  retypeAddress: string | undefined;
  onDone: (filter: RowFilter | null) => void;
}

function FilterForm({ column, filter, retypeAddress, onDone }: FormProps) {
  const initial = isNumeric(column.type) ? 'eq' : 'contains';
  const [operator, setOperator] = useState<FilterOperator>(filter?.operator ?? initial);
  const [value, setValue] = useState(filter?.value ?? '');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onDone({ column: column.name, operator, value: takesValue(operator) ? value : '' });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs" w="15rem">
        <Select
          label={t`Rows where ${column.name}`}
          data={OPERATORS}
          value={operator}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(next) => {
            if (next !== null) setOperator(next);
          }}
        />
        {takesValue(operator) && (
          <TextInput
            aria-label={t`Value`}
            placeholder={t`Value`}
            data-autofocus
            value={value}
            onChange={({ currentTarget }) => setValue(currentTarget.value)}
          />
        )}
        <Group justify="space-between" gap="xs">
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            disabled={!filter}
            onClick={() => onDone(null)}
          >
            {t`Clear`}
          </Button>
          <Button type="submit" size="compact-sm">
            {t`Filter`}
          </Button>
        </Group>
        {retypeAddress !== undefined && (
          <Button component={Link} to={retypeAddress} variant="default" size="compact-sm">
            {t`Change type…`}
          </Button>
        )}
      </Stack>
    </form>
  );
}
