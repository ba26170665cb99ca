/** The differing rows: added, removed and changed ones, told apart by sign and word as well as by colour. */
import { t } from '@lingui/core/macro';
import { VisuallyHidden } from '@mantine/core';
import { CellText } from '@/components/CellText';
import { NewText, OldText } from '@/components/ChangePreview';
import { useFormats } from '@/components/format';
import type { DiffCell, DiffKind, DiffLine } from './diff-lines';
import classes from './diff.module.css';

const SIGNS: Record<DiffKind, string> = { added: '+', removed: '−', changed: '±' };

export function DiffTable({ columns, lines }: { columns: string[]; lines: DiffLine[] }) {
  const formats = useFormats();
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.scroller} role="group" aria-label={t`Differing rows`} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col" className={classes.mark}>
              <VisuallyHidden>{t`What happened`}</VisuallyHidden>
            </th>
            <th scope="col" className={classes.number}>
              {t`Row`}
            </th>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ kind, row, cells }, index) => (
            <tr key={index} data-kind={kind}>
              <th scope="row" className={classes.mark} title={kind}>
                <span aria-hidden>{SIGNS[kind]}</span>
                <VisuallyHidden>{kind}</VisuallyHidden>
              </th>
              <td className={classes.number}>{row !== null && formats.number(row)}</td>
              {cells.map((cell) => (
                <td key={cell.column} data-changed={cell.change !== null}>
                  <Cell cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ cell: { value, change, isAbsent } }: { cell: DiffCell }) {
  if (isAbsent) return null;
  if (!change) return <CellText value={value} />;
  return (
    <>
      <OldText value={change.old} /> <span aria-hidden>→</span> <NewText value={change.new} />
    </>
  );
}
