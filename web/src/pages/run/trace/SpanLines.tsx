/** Lines of a prompt, an answer or a comparison; what is untrusted, withheld or redacted says so. */
import { t } from '@lingui/core/macro';
import { Text, VisuallyHidden } from '@mantine/core';
import { Fragment } from 'react';
import type { SpanDiffLine, SpanLine } from '@/api/observe';
import classes from './trace.module.css';

type Line = SpanLine & Partial<Pick<SpanDiffLine, 'change'>>;

interface Props {
  title: string;
  lines: readonly Line[];
}

/** Equal lines around a change that are shown; the others are counted. */
const AROUND = 3;

const MARKS: Record<NonNullable<SpanLine['mark']>, string> = {
  untrusted: t`Untrusted`,
  withheld: t`Withheld from the model`,
  redacted: t`Redacted`,
};
const SIGNS = { same: ' ', added: '+', removed: '−' };
const WORDS = { same: '', added: t`Added: `, removed: t`Removed: ` };

export function SpanLines({ title, lines }: Props) {
  return (
    <section aria-label={title} className={classes.side}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {lines.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t`Nothing.`}
        </Text>
      ) : (
        // Scrolls by itself, so it must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className={classes.lines} role="group" aria-label={t`Lines of ${title}`} tabIndex={0}>
          {shortened(lines).map((part, at, all) => {
            if (typeof part === 'number') {
              return (
                <div key={at} className={classes.gap}>
                  {t`${part} equal lines`}
                </div>
              );
            }
            const before = all[at - 1];
            return <LineRow key={at} line={part} before={isLine(before) ? before : undefined} />;
          })}
        </div>
      )}
    </section>
  );
}

function isLine(part: Line | number | undefined): part is Line {
  return typeof part === 'object';
}

function LineRow({ line, before }: { line: Line; before: Line | undefined }) {
  const { text, mark, source, is_heading: isHeading, change } = line;
  // A mark is said once for the lines that follow one another.
  const isNew = mark !== null && (before?.mark !== mark || before.source !== source);
  return (
    <Fragment>
      {isNew && (
        <div className={classes.mark} data-mark={mark}>
          {MARKS[mark]}
          {source !== '' && mark === 'untrusted' && `: ${source}`}
        </div>
      )}
      <div
        className={classes.line}
        data-heading={isHeading || undefined}
        data-mark={mark ?? undefined}
        data-change={change}
      >
        {change && (
          <>
            <span aria-hidden className={classes.sign}>
              {SIGNS[change]}
            </span>
            <VisuallyHidden component="span">{WORDS[change]}</VisuallyHidden>
          </>
        )}
        {text}
      </div>
    </Fragment>
  );
}

/** A comparison without most of what is equal: a number stands for lines that are left out. */
export function shortened(lines: readonly Line[]): (Line | number)[] {
  if (lines[0]?.change === undefined) return [...lines];
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ change }) => change !== 'same'),
  );
  const found: (Line | number)[] = [];
  lines.forEach((line, at) => {
    const last = found.at(-1);
    if (near[at] === true) found.push(line);
    else if (typeof last === 'number') found[found.length - 1] = last + 1;
    else found.push(1);
  });
  return found;
}
