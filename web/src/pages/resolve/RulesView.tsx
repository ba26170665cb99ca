/** The rules in words: which rows are compared, what counts as agreement, which value survives. */
import { t } from '@lingui/core/macro';
import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormats } from '@/components/format';
import classes from './resolve.module.css';
import { evidenceOf, inWords, levelInWords, type Rules } from './rules';
import { Weight } from './Weight';

export function RulesView({ rules }: { rules: Rules }) {
  return (
    <Stack gap="lg">
      <Part title={t`Fields`} about={t`What an entity has, and the columns it is read from.`}>
        <Fields rules={rules} />
      </Part>
      <Part title={t`Blocking`} about={t`Two records are compared if they share one of these.`}>
        <Blocking rules={rules} />
      </Part>
      <Part
        title={t`Comparisons`}
        about={t`The first level that holds counts, with its evidence for or against.`}
      >
        <Comparisons rules={rules} />
      </Part>
      <Part
        title={t`Survivorship`}
        about={t`Which value the golden record takes; fields listed together come from one row.`}
      >
        <Survivorship rules={rules} />
      </Part>
      {(rules.decisions ?? []).length > 0 && (
        <Part
          title={t`Decisions`}
          about={t`What people said about two rows; it overrides every score.`}
        >
          <Decisions rules={rules} />
        </Part>
      )}
      {(rules.notes ?? []).length > 0 && (
        <Part title={t`Notes`} about={t`What the proposal wants you to know.`}>
          <ul className={classes.notes}>
            {rules.notes?.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Part>
      )}
    </Stack>
  );
}

function Part({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <div>
      <Title order={3} size="h5">
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb={6}>
        {about}
      </Text>
      {children}
    </div>
  );
}

interface TableProps {
  label: string;
  headers: string[];
  children: ReactNode;
}

function Table({ label, headers, children }: TableProps) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.scroller} role="group" aria-label={label} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            {headers.map((header) => (
              <th key={header} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Fields({ rules }: { rules: Rules }) {
  return (
    <Table label={t`Fields`} headers={['Field', 'Meaning', 'Columns']}>
      {rules.fields?.map(({ name, role, columns }) => (
        <tr key={name}>
          <th scope="row">{inWords(name)}</th>
          <td>{role === 'other' ? t`carried along` : inWords(role)}</td>
          <td>
            {Object.entries(columns)
              .map(
                ([table, names]) =>
                  `${table}: ${names.map((one) => (typeof one === 'string' ? one : one.join(' + '))).join(', ')}`,
              )
              .join(' · ')}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Blocking({ rules }: { rules: Rules }) {
  const formats = useFormats();
  return (
    <Table label={t`Blocking`} headers={['The same', 'Pairs when proposed']}>
      {rules.blocking?.map(({ parts, pairs }, index) => (
        <tr key={index}>
          <th scope="row">
            {parts
              .map(({ field, start, end, nearest }) => {
                const part =
                  start !== undefined
                    ? t`, first ${start} characters`
                    : end !== undefined
                      ? t`, last ${end} characters`
                      : nearest !== undefined
                        ? t`: rare words, the ${nearest} nearest`
                        : '';
                return inWords(field) + part;
              })
              .join(t` and `)}
          </th>
          <td className="tabular">{pairs !== undefined && formats.number(pairs)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Comparisons({ rules }: { rules: Rules }) {
  return (
    <Table label={t`Comparisons`} headers={['Field', 'Agreement', 'Evidence']}>
      {rules.comparisons?.flatMap(({ field, levels, rare_values_count_more }) =>
        levels.map((level, index) => {
          const bits = evidenceOf(level);
          return (
            <tr key={`${field} ${index}`} data-follows={index > 0}>
              {index === 0 && (
                <th scope="rowgroup" rowSpan={levels.length}>
                  {inWords(field)}
                  {rare_values_count_more === true && (
                    <Text size="xs" c="dimmed" fw={400}>
                      {t`rare values count more`}
                    </Text>
                  )}
                </th>
              )}
              <td>{levelInWords(level)}</td>
              <td>{bits === null ? t`estimated when weighed` : <Weight bits={bits} />}</td>
            </tr>
          );
        }),
      )}
    </Table>
  );
}

function Survivorship({ rules }: { rules: Rules }) {
  return (
    <Table label={t`Survivorship`} headers={['Fields', 'What survives']}>
      {rules.survivorship?.map(({ fields, rule }) => (
        <tr key={fields.join()}>
          <th scope="row">{fields.map(inWords).join(', ')}</th>
          <td>{inWords(rule)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Decisions({ rules }: { rules: Rules }) {
  return (
    <Table label={t`Decisions`} headers={['One row', 'The other row', 'Decided']}>
      {rules.decisions?.map(({ left, right, same }) => (
        <tr key={`${left.table} ${left.row} ${right.table} ${right.row}`}>
          <td>{`${left.table} ${left.row}`}</td>
          <td>{`${right.table} ${right.row}`}</td>
          <td>{same ? t`the same` : t`different`}</td>
        </tr>
      ))}
    </Table>
  );
}
