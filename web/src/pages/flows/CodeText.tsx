/** SQL or Python of a step: the server says what is wrong with it while somebody types. */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useMemo } from 'react';
import { codeCheckQuery, type CodeLanguage, type CodeProblem } from '@/api/code-check';
import { ApiError } from '@/api/errors';
import { useProject } from '@/app/project';
import { characters } from '@/flows/expressions/texts';
import { type TextMark, ValueText } from './ValueText';

/** Long enough for the next key: each check is a question to the server. */
const PAUSE = 500;
const MOST = 5;

interface Props extends ComponentProps<typeof ValueText> {
  language: CodeLanguage;
  parameters: Record<string, unknown>;
}

export function CodeText({ language, parameters, ...props }: Props) {
  const { value, readOnly } = props;
  const project = useProject();
  const asked = useMemo(
    () => ({ language, code: value, parameters }),
    [language, value, parameters],
  );
  const [settled] = useDebouncedValue(asked, PAUSE);
  const isAsked = !readOnly && settled.code.trim() !== '';
  const query = useQuery({ ...codeCheckQuery(project.id, settled), enabled: isAsked });
  const isOfThis = isAsked && settled.code === value && settled.language === language;
  return <ValueText {...props} marks={isOfThis ? marksOf(value, query) : []} />;
}

interface Found {
  data?: { problems: CodeProblem[] } | undefined;
  error: Error | null;
}

function marksOf(text: string, { data, error }: Found): TextMark[] {
  if (error !== null) {
    const reason = error instanceof ApiError ? error.detail || error.title : error.message;
    return [
      { message: `This code was not checked. ${reason}`, place: '', at: null, isWarning: true },
    ];
  }
  return (data?.problems ?? []).slice(0, MOST).map(({ message, line, column, is_warning }) => ({
    message,
    isWarning: is_warning,
    place: line === null ? '' : `Line ${line}, column ${column ?? 1}`,
    at: line === null ? null : offsetOf(text, line, column ?? 1),
  }));
}

/** Lines and columns are counted from 1, columns in characters. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const within = characters(lines[line - 1] ?? '').slice(0, column - 1);
  return Math.min(text.length, before + within.join('').length);
}
