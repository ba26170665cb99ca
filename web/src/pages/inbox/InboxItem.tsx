/** One line of the inbox, and the whole card when it is open. */
import { t } from '@lingui/core/macro';
import { Anchor, Text, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import {
  CircleHelp,
  Coins,
  DoorClosed,
  ListChecks,
  type LucideIcon,
  ShieldQuestion,
  Stamp,
} from 'lucide-react';
import { usePersonName } from '@/api/members';
import type { Waiting } from '@/api/run-types';
import { projectPath, useProject } from '@/app/project';
import { Countdown } from '@/components/Elapsed';
import { RelativeTime } from '@/components/Moment';
import { RiskChip } from '@/components/RiskChip';
import { askedIn } from '@/components/waiting/asked';
import { WaitingCard } from '@/components/waiting/WaitingCard';
import classes from './inbox.module.css';
import { idOf } from './selection';

const KINDS: Record<Waiting['kind'], { word: string; icon: LucideIcon }> = {
  approval: { word: t`Approval`, icon: Stamp },
  gate: { word: t`Gate of a flow`, icon: DoorClosed },
  question: { word: t`Question`, icon: CircleHelp },
  budget: { word: t`Budget`, icon: Coins },
  uncertain: { word: t`Uncertain effect`, icon: ShieldQuestion },
  plan: { word: t`Plan of a chat`, icon: ListChecks },
};

interface Props {
  item: Waiting;
  isOpen: boolean;
  onOpen: () => void;
}

export function InboxItem({ item, isOpen, onOpen }: Props) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const { word, icon: Icon } = KINDS[item.kind];
  const id = idOf(item);
  const asker = item.approval && nameOf(item.approval.requested_by);
  return (
    <li className={classes.item} id={id} data-open={isOpen}>
      <UnstyledButton
        className={classes.line}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-card` : undefined}
        onClick={onOpen}
      >
        <Icon size={18} aria-hidden className={classes.icon} />
        <span className={classes.what}>
          <span className={classes.title}>{askedIn(item)}</span>
          <Text span size="xs" c="dimmed">
            {word} · {item.run_title} · <RelativeTime value={item.asked_at} />
            {asker && t` · for ${asker}`}
          </Text>
        </span>
        <span className={classes.marks}>
          {item.approval && <RiskChip risk={item.approval.risk} />}
          {item.expires_at !== null && <Countdown until={item.expires_at} />}
        </span>
      </UnstyledButton>
      {isOpen && (
        <div id={`${id}-card`} className={classes.card}>
          <WaitingCard waiting={item} hasKeys />
          {item.may_open && (
            <Anchor component={Link} to={projectPath(project.id, 'runs', item.run_id)} size="sm">
              {t`Open the run`}
            </Anchor>
          )}
        </div>
      )}
    </li>
  );
}
