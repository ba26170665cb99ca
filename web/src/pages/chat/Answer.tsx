/** The answer in words. Each figure leads to the result it was taken from; one without a source is marked. */
import { plural, t } from '@lingui/core/macro';
import { Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import type { Turn } from '@/api/chat-types';
import classes from './answer.module.css';
import { figureFinder } from './figures';
import { Markdown } from './Markdown';

interface Props {
  turn: Turn;
  /** The answer as far as it is written. */
  live: string | undefined;
  /** Shows the call that a figure was taken from. */
  onSource: (key: string) => void;
}

export function Answer({ turn, live, onSource }: Props) {
  const { answer, figures } = turn;
  const find = useMemo(() => figureFinder(figures), [figures]);
  const drawText = useCallback(
    (text: string, isCell: boolean) =>
      find(text).map((piece, index) => {
        if (typeof piece === 'string') return piece;
        const { source } = piece;
        // A table of links would be a long way for the keyboard.
        if (isCell && source !== null) return piece.text;
        return source === null ? (
          <span key={index} className={classes.unsourced} title={t`No result has this figure`}>
            {piece.text}
            <TriangleAlert size={11} aria-hidden />
            <VisuallyHidden> {t`(without a source)`}</VisuallyHidden>
          </span>
        ) : (
          <UnstyledButton
            key={index}
            className={classes.sourced}
            title={t`Taken from a result: show it`}
            onClick={() => onSource(source)}
          >
            {piece.text}
          </UnstyledButton>
        );
      }),
    [find, onSource],
  );
  const text = answer === null ? live : withoutRows(withoutError(answer, turn.error), turn);
  if (text === undefined || text === '') return null;
  const unsourced = new Set(
    figures.filter(({ source }) => source === null).map((figure) => figure.text),
  );
  return (
    <div className={classes.answer} data-live={answer === null}>
      <Markdown text={text} drawText={drawText} />
      {unsourced.size > 0 && (
        <Text size="xs" className={classes.warning}>
          <TriangleAlert size={13} aria-hidden />
          {plural(unsourced.size, {
            one: `One figure is in no result: ${[...unsourced].join(', ')}. Check before you use it.`,
            other: `${unsourced.size} figures are in no result: ${[...unsourced].join(', ')}. Check before you use it.`,
          })}
        </Text>
      )}
    </div>
  );
}

/** Rows and choices of a question have a place of their own below; the words would show them twice. */
export function withoutRows(answer: string, { reading }: Pick<Turn, 'reading'>): string {
  if (reading === null) return answer;
  return answer
    .split('\n\n')
    .filter((part) => !part.startsWith('| ') && !/^\d+ of \d+ (rows|columns)/.test(part))
    .filter((part) => reading.status === 'fact' || !part.startsWith('- '))
    .join('\n\n');
}

/** Why it failed stands in a box of its own below; the words would say it twice. */
export function withoutError(answer: string, error: Turn['error']): string {
  if (error === null || !answer.endsWith(error.message)) return answer;
  const begin = answer.slice(0, -error.message.length).lastIndexOf('\n\n');
  return begin < 0 ? '' : answer.slice(0, begin);
}
