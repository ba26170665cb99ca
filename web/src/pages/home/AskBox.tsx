/** A question, asked where one arrives; the answer comes in a new conversation. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { projectPath } from '@/app/project';
import { Section } from '@/components/Section';
import { leaveQuestion } from '@/pages/chat/drafts';
import { useExamples } from '@/pages/chat/use-examples';
import classes from './home.module.css';

const MOST = 3;

export default function AskBox({ projectId }: { projectId: string }) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const examples = useExamples(projectId, MOST);
  const ask = (question: string) => {
    if (question.trim() === '') return;
    leaveQuestion(projectId, question.trim());
    void navigate({ to: projectPath(projectId, 'chat') });
  };
  if (!examples.isLoading && !examples.hasData) return null;
  return (
    <div className={classes.asking}>
      <Section title={t`Ask about your data`}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            ask(text);
          }}
        >
          <TextInput
            aria-label={t`Your question`}
            placeholder={t`Say what you want in your own words`}
            size="md"
            maxLength={2000}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            rightSection={
              <ActionIcon
                type="submit"
                variant="subtle"
                aria-label={t`Ask this`}
                disabled={!text.trim()}
              >
                <ArrowRight size={16} aria-hidden />
              </ActionIcon>
            }
          />
        </form>
        <ul className={classes.examples} aria-label={t`Things to try`}>
          {examples.shown.map(({ title, message }) => (
            <li key={message}>
              <UnstyledButton onClick={() => ask(message)}>
                <Text span size="sm">
                  {title}
                </Text>
              </UnstyledButton>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  );
}
