/** A chip with what can stand in its place: searched and paged on the server, chosen by click or keyboard. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Loader, Popover, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { itemsOf } from '@/api/lists';
import {
  type ColumnRef,
  type Reading,
  type ReadingOption,
  readingOptionsQuery,
} from '@/api/readings';
import { projectPath, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import type { OnReading } from './ReadingChips';
import classes from './reading.module.css';

const PAUSE = 200;

interface Props {
  reading: Reading | null;
  /** The place that is changed; null: one of `places` is chosen first. */
  pointer: string | null;
  places?: readonly (readonly [string, string])[];
  label: string;
  title: string;
  source: 'asked' | 'definition' | 'assumed' | 'add';
  icon?: ReactNode;
  /** The definition that the part is read by. */
  entry?: string | null;
  /** Shows the chip without what could stand there. */
  isFixed?: boolean;
  onReading: OnReading;
}

export function PlaceMenu(props: Props) {
  const { label, title, source, icon, entry = null, isFixed = false, ...rest } = props;
  const project = useProject();
  const [opened, setOpened] = useState(false);
  const definition =
    entry === null
      ? null
      : `${projectPath(project.id, 'definitions')}?entry=${encodeURIComponent(entry)}`;
  if (isFixed) {
    return definition !== null ? (
      <Link
        className={classes.chip}
        data-source={source}
        title={title}
        to={definition}
        resetScroll={false}
      >
        {label}
      </Link>
    ) : (
      <span className={classes.chip} data-source={source} title={title}>
        {label}
      </span>
    );
  }
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={300}
      position="bottom-start"
      trapFocus
      returnFocus
      shadow="md"
    >
      <Popover.Target>
        <UnstyledButton
          className={classes.chip}
          data-source={source}
          title={title}
          aria-haspopup="dialog"
          onClick={() => setOpened(!opened)}
        >
          {icon}
          {label}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label={source === 'add' ? title : t`Change: ${label}`}>
        {opened && (
          <Choosing
            {...rest}
            onReading={(line, reading) => {
              setOpened(false);
              rest.onReading(line, reading);
            }}
          />
        )}
        {opened && definition !== null && (
          <Anchor
            component={Link}
            to={definition}
            resetScroll={false}
            size="xs"
            mt="xs"
            display="block"
          >
            {t`See its definition`}
          </Anchor>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

type ChoosingProps = Pick<Props, 'reading' | 'pointer' | 'places' | 'onReading'>;

export function Choosing({ reading, pointer, places = [], onReading }: ChoosingProps) {
  const [place, setPlace] = useState(pointer);
  const [column, setColumn] = useState<ColumnRef | null>(null);
  const back = () => (column ? setColumn(null) : setPlace(pointer));
  const canGoBack = column !== null || place !== pointer;
  return (
    <div className={classes.choosing}>
      {canGoBack && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          w="fit-content"
          leftSection={<ArrowLeft size={12} aria-hidden />}
          onClick={back}
        >
          {t`Back`}
        </Button>
      )}
      {place === null ? (
        <ul className={classes.options} aria-label={t`What to add`}>
          {places.map(([at, text]) => (
            <li key={at}>
              <UnstyledButton onClick={() => setPlace(at)}>{text}</UnstyledButton>
            </li>
          ))}
        </ul>
      ) : (
        <OptionList
          // Another place has a search of its own.
          key={`${place} ${column?.column ?? ''}`}
          reading={reading}
          pointer={place}
          column={column}
          onColumn={setColumn}
          onReading={onReading}
        />
      )}
    </div>
  );
}

interface ListProps {
  reading: Reading | null;
  pointer: string;
  column: ColumnRef | null;
  onColumn: (column: ColumnRef) => void;
  onReading: OnReading;
}

function OptionList({ reading, pointer, column, onColumn, onReading }: ListProps) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const [settled] = useDebouncedValue(search, PAUSE);
  const query = useInfiniteQuery({
    ...readingOptionsQuery(project.id, { reading, pointer, column, search: settled }),
    placeholderData: (previous) => previous,
  });
  const options = itemsOf(query.data);
  const choose = ({ reading: next, line, column: of }: ReadingOption) => {
    if (next) onReading(line, next);
    else if (of) onColumn(of);
  };
  return (
    <>
      <TextInput
        size="xs"
        aria-label={t`Search`}
        placeholder={placeholderOf(pointer, column)}
        value={search}
        data-autofocus
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <FormError error={query.error} />
      {query.isPending && (
        <Loader size="xs" role="status" aria-label={t`Loading what can be chosen`} />
      )}
      <ul className={classes.options} aria-label={t`Options`}>
        {options.map((option, index) => (
          <li key={`${option.group} ${option.text}`}>
            {option.group !== '' && option.group !== options[index - 1]?.group && (
              <Text size="xs" c="dimmed" fw={600}>
                {option.group}
              </Text>
            )}
            <UnstyledButton
              data-removes={option.text === 'Remove' && option.group === ''}
              onClick={() => choose(option)}
            >
              <span>{option.text}</span>
              {option.detail !== '' && <span className={classes.detail}>{option.detail}</span>}
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {query.isSuccess && options.length === 0 && (
        <Text size="xs" c="dimmed">
          {settled === '' ? t`Type a value to compare with.` : t`Nothing matches.`}
        </Text>
      )}
      {query.hasNextPage && (
        <Button size="compact-xs" variant="subtle" onClick={() => void query.fetchNextPage()}>
          {t`Show more`}
        </Button>
      )}
    </>
  );
}

function placeholderOf(pointer: string, column: ColumnRef | null): string {
  if (column) return t`A value or a number`;
  if (pointer.startsWith('/periods')) return t`2024, March 2021, Q2 2022`;
  if (pointer.startsWith('/limit') || pointer.startsWith('/order')) return t`How many`;
  return t`Search`;
}
