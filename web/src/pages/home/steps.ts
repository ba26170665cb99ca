/** What to do next, from what is already there. */
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
      label: 'Set a password',
      why: 'So that you can come back without a link.',
      to: '/profile',
      done: false,
    },
    project.is_demo && {
      id: 'tour',
      label: 'Take the tour',
      why: 'Five steps. You can leave at any time.',
      to: '?dialog=tour',
      done: false,
    },
    project.is_demo && {
      id: 'look',
      label: 'Look at the sample data',
      why: 'Customers, invoices and tickets with typical flaws.',
      to: 'datasets',
      done: false,
    },
    roleAtLeast(project.role, 'admin') &&
      members !== undefined && {
        id: 'invite',
        label: 'Invite a colleague',
        why: 'A link and a role are all it takes.',
        to: 'members?dialog=invite',
        done: members > 1,
      },
    tokens !== undefined && {
      id: 'token',
      label: 'Create an API token',
      why: 'For scripts and other programs.',
      to: 'tokens?dialog=create',
      done: tokens > 0,
    },
    project.is_demo &&
      roleAtLeast(project.role, 'admin') && {
        id: 'project',
        label: 'Start your own project',
        why: 'Keeps your data apart from the demo.',
        to: '?dialog=new-project',
        done: session.projects.some(({ is_demo }) => !is_demo),
      },
  ];
  return steps.filter((step) => step !== false);
}
