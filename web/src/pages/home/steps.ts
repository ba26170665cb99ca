/** What to do next, from what is already there. */
import { t } from '@lingui/core/macro';
import { roleAtLeast } from '@/api/roles';
import type { ProjectRef, Session } from '@/api/types';

export interface Step {
  id: string;
  label: string;
  why: string;
  /** A page of the project, or of the app when it starts with a slash. */
  to: string;
  done: boolean;
}

export interface Situation {
  session: Session;
  project: ProjectRef;
  /** How many there are; undefined while that is not known. */
  members: number | undefined;
  tokens: number | undefined;
}

/** Steps that the person may take; nothing is offered before it is known to be open. */
export function nextSteps({ session, project, members, tokens }: Situation): Step[] {
  const steps: (Step | false)[] = [
    !session.user.has_password && {
      id: 'password',
      label: t`Set a password`,
      why: t`So that you can come back without a link.`,
      to: '/profile',
      done: false,
    },
    project.is_demo && {
      id: 'tour',
      label: t`Take the tour`,
      why: t`Five steps. You can leave at any time.`,
      to: '?dialog=tour',
      done: false,
    },
    project.is_demo && {
      id: 'look',
      label: t`Look at the sample data`,
      why: t`Customers, invoices and tickets with typical flaws.`,
      to: 'datasets',
      done: false,
    },
    roleAtLeast(project.role, 'admin') &&
      members !== undefined && {
        id: 'invite',
        label: t`Invite a colleague`,
        why: t`A link and a role are all it takes.`,
        to: 'members?dialog=invite',
        done: members > 1,
      },
    tokens !== undefined && {
      id: 'token',
      label: t`Create an API token`,
      why: t`For scripts and other programs.`,
      to: 'tokens?dialog=create',
      done: tokens > 0,
    },
    project.is_demo &&
      roleAtLeast(project.role, 'admin') && {
        id: 'project',
        label: t`Start your own project`,
        why: t`Keeps your data apart from the demo.`,
        to: '?dialog=new-project',
        done: session.projects.some(({ is_demo }) => !is_demo),
      },
  ];
  return steps.filter((step) => step !== false);
}
