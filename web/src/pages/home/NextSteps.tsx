/** The list of next steps; it leaves when all are done. */
import { t } from '@lingui/core/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';
import type { MouseEvent } from 'react';
import { membersQuery } from '@/api/members';
import { useSession } from '@/api/session';
import { tokensQuery } from '@/api/tokens';
import { itemsOf } from '@/api/lists';
import { projectPath, useProject } from '@/app/project';
import { Section } from '@/components/Section';
import classes from './home.module.css';
import { nextSteps, type Step } from './steps';

export default function NextSteps() {
  const session = useSession();
  const project = useProject();
  const members = useInfiniteQuery(membersQuery(project.id));
  const tokens = useInfiniteQuery(tokensQuery(project.id));
  const steps = nextSteps({
    session,
    project,
    members: members.data && itemsOf(members.data).length,
    tokens: tokens.data && itemsOf(tokens.data).length,
  });
  if (steps.every(({ done }) => done)) return null;
  return (
    <Section title={t`Next steps`}>
      <ul className={classes.list}>
        {steps.map((step) => (
          <li key={step.id}>
            <StepLink step={step} projectId={project.id} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function address(step: Step, projectId: string): string {
  if (step.to.startsWith('/')) return step.to;
  if (step.to.startsWith('?')) return projectPath(projectId) + step.to;
  return projectPath(projectId, step.to);
}

function StepLink({ step, projectId }: { step: Step; projectId: string }) {
  const navigate = useNavigate();
  const href = address(step, projectId);
  const onClick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void navigate({ href });
  };
  const Icon = step.done ? CircleCheck : CircleDashed;
  return (
    <a href={href} className={classes.step} data-done={step.done} onClick={onClick}>
      <Icon size={16} aria-label={step.done ? t`done` : t`open`} />
      <span>
        <span className={classes.label}>{step.label}</span>
        {!step.done && <span className={classes.why}>{step.why}</span>}
      </span>
    </a>
  );
}
