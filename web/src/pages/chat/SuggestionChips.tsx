/** What could be said next, one click each. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { Lightbulb } from 'lucide-react';
import type { Suggestion } from '@/api/chat-types';
import { useMay } from '@/app/project';
import classes from './chat.module.css';

interface Props {
  suggestions: Suggestion[];
  onSay: (message: string) => void;
}

export function SuggestionChips({ suggestions, onSay }: Props) {
  const mayAsk = useMay('operator');
  if (suggestions.length === 0 || !mayAsk) return null;
  return (
    <ul className={classes.suggestions} aria-label={t`Suggested next`}>
      {suggestions.map(({ title, message }) => (
        <li key={message}>
          <Button
            variant="default"
            radius="xl"
            size="xs"
            title={message}
            leftSection={<Lightbulb size={13} aria-hidden />}
            onClick={() => onSay(message)}
          >
            {title}
          </Button>
        </li>
      ))}
    </ul>
  );
}
