/** Before the first message: what one can ask here, with examples from the project's own data. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Skeleton, Text, Title, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { projectPath, useMay, useProject } from '@/app/project';
import classes from './chat.module.css';
import { useExamples } from './use-examples';
import { WithoutModel } from './WithoutModel';

const MOST = 6;

export function Opening({ onSay }: { onSay: (message: string) => void }) {
  const project = useProject();
  const mayAsk = useMay('operator');
  const { shown, hasData, isLoading } = useExamples(project.id, MOST);
  return (
    <div className={classes.opening}>
      <MessagesSquare size={26} aria-hidden />
      <Title order={2}>{t`Ask about your data`}</Title>
      <Text size="sm" c="dimmed" maw="34rem">
        {t`Say what you want in your own words. Steward shows its plan, asks before it changes anything, and everything it did can be undone.`}
      </Text>
      <WithoutModel />
      {isLoading && <Skeleton height={80} maw="34rem" aria-busy />}
      {!isLoading && !hasData && (
        <Text size="sm">
          <Trans>
            There is no data yet.{' '}
            <Anchor
              component={Link}
              to={`${projectPath(project.id, 'datasets')}?dialog=upload`}
              inherit
            >
              Load files
            </Anchor>{' '}
            to begin, or attach one to a message.
          </Trans>
        </Text>
      )}
      {!isLoading && mayAsk && (
        <ul className={classes.examples} aria-label={t`Examples`}>
          {shown.map(({ title, message }) => (
            <li key={message}>
              <UnstyledButton onClick={() => onSay(message)}>
                <span>{title}</span>
                {title.toLowerCase() !== message.toLowerCase() && (
                  <Text span size="xs" c="dimmed">
                    {message}
                  </Text>
                )}
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
      {!mayAsk && (
        <Text size="sm" c="dimmed">
          {t`You may read conversations here. Asking needs the role of an operator.`}
        </Text>
      )}
    </div>
  );
}
