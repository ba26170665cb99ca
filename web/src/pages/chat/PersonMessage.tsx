/** What a person wrote, with its other versions, and what can be done with it. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Text, Tooltip } from '@mantine/core';
import { AtSign, Check, ChevronLeft, ChevronRight, Copy, Paperclip, Pencil } from 'lucide-react';
import type { Turn } from '@/api/chat-types';
import { usePersonName } from '@/api/members';
import { useSession } from '@/api/session';
import { useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { RelativeTime } from '@/components/Moment';
import { useCopy } from '@/components/use-copy';
import classes from './chat.module.css';
import type { TurnActions } from './TurnView';

interface Props {
  turn: Turn;
  actions: TurnActions;
}

export function PersonMessage({ turn, actions }: Props) {
  const { message, mentions, attachments, query_type: kind, created_by, created_at } = turn;
  const project = useProject();
  const { user } = useSession();
  const nameOf = usePersonName(project.id);
  const mayAsk = useMay('operator');
  const { copied, copy } = useCopy();
  return (
    <div className={classes.person}>
      <div className={classes.bubble} data-code={kind !== null}>
        {message}
      </div>
      {(mentions.length > 0 || attachments.length > 0) && (
        <div className={classes.chips}>
          {mentions.map((name) => (
            <Chip key={name} word={name} icon={AtSign} title={t`Dataset`} />
          ))}
          {attachments.map(({ upload, name }) => (
            <Chip key={upload} word={name} icon={Paperclip} title={t`Attached file`} />
          ))}
        </div>
      )}
      <div className={classes.under}>
        <Text span size="xs" c="dimmed">
          {created_by !== user.id && `${nameOf(created_by) ?? t`Somebody who left`} · `}
          <RelativeTime value={created_at} />
        </Text>
        <Tooltip label={copied ? t`Copied` : t`Copy the message`}>
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            aria-label={t`Copy the message`}
            onClick={() => void copy(message)}
          >
            {copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
          </ActionIcon>
        </Tooltip>
        {mayAsk && (
          <Tooltip label={t`Edit: both versions are kept`}>
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={t`Edit the message`}
              onClick={() => actions.onEdit(turn)}
            >
              <Pencil size={13} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
        <Versions turn={turn} onLeaf={actions.onLeaf} />
      </div>
    </div>
  );
}

/** Messages at the same place of the conversation: edited ones, and the same one asked again. */
function Versions({ turn, onLeaf }: { turn: Turn; onLeaf: (runId: string) => void }) {
  const { siblings, run_id } = turn;
  const at = siblings.indexOf(run_id);
  if (siblings.length < 2 || at < 0) return null;
  const step = (to: number, label: string, icon: React.ReactNode) => {
    const target = siblings[to];
    return (
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={label}
        disabled={target === undefined}
        onClick={() => target !== undefined && onLeaf(target)}
      >
        {icon}
      </ActionIcon>
    );
  };
  return (
    <span className={classes.versions} role="group" aria-label={t`Versions of this message`}>
      {step(at - 1, t`Earlier version`, <ChevronLeft size={14} aria-hidden />)}
      <Text span size="xs" className="tabular">
        {at + 1}/{siblings.length}
      </Text>
      {step(at + 1, t`Later version`, <ChevronRight size={14} aria-hidden />)}
    </span>
  );
}
