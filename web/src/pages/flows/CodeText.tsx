/** SQL or Python of a step: the server says what is wrong with it while somebody types. */
import { t } from '@lingui/core/macro';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useMemo } from 'react';
import { type CheckedCode, codeCheckQuery, type CodeLanguage } from '@/api/code-check';
import { ApiError } from '@/api/errors';
import { useProject } from '@/app/project';
import { characters } from '@/flows/expressions/texts';
import { type TextMark, ValueText } from './ValueText';

/** Long enough for the next key: each check is a question to the server. */
const PAUSE = 500;
const MOST = 5;
const MAIN = 'main';

interface Props extends ComponentProps<typeof ValueText> {
  language: CodeLanguage;
  parameters: Record<string, unknown>;
  /** The branch that the step names, if it names one. */
  branch: string | null;
  /** The branch of the run that is shown, or main. */
  runBranch: string;
}

export function CodeText({ language, parameters, branch, runBranch, ...props }: Props) {
  const { value, readOnly } = props;
  const project = useProject();
  const asked = useMemo(
    () => ({ language, code: value, parameters, branch, runBranch }),
    [language, value, parameters, branch, runBranch],
  );
  const [settled] = useDebouncedValue(asked, PAUSE);
  const isAsked = !readOnly && settled.code.trim() !== '';
  const query = useQuery({ ...codeCheckQuery(project.id, settled), enabled: isAsked });
  const isOfThis = isAsked && settled.code === value && settled.language === language;
  return <ValueText {...props} marks={isOfThis ? marksOf(value, query) : []} />;
}

interface Found {
  data?: CheckedCode | undefined;
  error: Error | null;
}

export function marksOf(text: string, { data, error }: Found): TextMark[] {
  if (error !== null) {
    const reason = error instanceof ApiError ? error.detail || error.title : error.message;
    return [
      { message: t`This code was not checked. ${reason}`, place: '', at: null, isWarning: true },
    ];
  }
  const { problems, branch, note } = data ?? { problems: [], branch: null, note: '' };
  // On main nobody has to be told: that is where runs work unless somebody says otherwise.
  const where = branch === null || branch === MAIN ? '' : t` (branch ${branch})`;
  const found = problems.slice(0, MOST).map(({ message, line, column, is_warning }) => ({
    message: `${message}${where}`,
    isWarning: is_warning,
    place: line === null ? '' : t`Line ${line}, column ${column ?? 1}`,
    at: line === null ? null : offsetOf(text, line, column ?? 1),
  }));
  return note === '' ? found : [...found, { message: note, place: '', at: null, isWarning: true }];
}

/** Lines and columns are counted from 1, columns in characters. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const within = characters(lines[line - 1] ?? '').slice(0, column - 1);
  return Math.min(text.length, before + within.join('').length);
}
