/** One event as a sentence that opens to its facts, in words. */
import { t } from '@lingui/core/macro';
import { Anchor, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { EventRecord } from '@/api/types';
import { projectPath, useProject } from '@/app/project';
import { datasetPath } from './dataset-path';
import { describeEvent, eventKind } from './describe-event';
import classes from './EventLine.module.css';
import { useFormats } from './format';

export function EventLine({ event }: { event: EventRecord }) {
  const [opened, setOpened] = useState(false);
  const details = `details-${event.id}`;
  return (
    <div className={classes.event}>
      <UnstyledButton
        className={classes.line}
        aria-expanded={opened}
        aria-controls={opened ? details : undefined}
        onClick={() => setOpened(!opened)}
      >
        <ChevronRight size={14} aria-hidden className={classes.chevron} />
        <span>{describeEvent(event)}</span>
      </UnstyledButton>
      {opened && <EventFacts id={details} event={event} />}
    </div>
  );
}

function EventFacts({ id, event }: { id: string; event: EventRecord }) {
  const formats = useFormats();
  const facts = factsOf(event);
  return (
    <dl id={id} className={classes.facts} aria-label={t`Details`}>
      <Fact name={t`When`}>{formats.dateTime(event.time)}</Fact>
      <Fact name={t`Who`}>{event.who ?? 'Steward'}</Fact>
      {facts.map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
      <Fact name={t`Kind of event`}>
        <code>{eventKind(event.type)}</code>
      </Fact>
      <Places event={event} />
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Where to look at what the event is about. */
function Places({ event: { subject, data } }: { event: EventRecord }) {
  const project = useProject();
  const run = [subject, data.run].find(
    (each) => typeof each === 'string' && each.startsWith('run_'),
  );
  const places: [string, string][] = [];
  if (typeof run === 'string') places.push([t`The run`, projectPath(project.id, 'runs', run)]);
  if (subject.startsWith('pbk_')) {
    places.push([t`The playbook`, projectPath(project.id, 'playbooks', subject)]);
  }
  for (const name of Array.isArray(data.datasets) ? data.datasets : []) {
    places.push([String(name), datasetPath(project.id, String(name))]);
  }
  if (places.length === 0) return null;
  return (
    <Fact name={t`Open`}>
      {places.map(([label, to], index) => (
        <span key={to}>
          {index > 0 && ', '}
          <Anchor component={Link} to={to} inherit>
            {label}
          </Anchor>
        </span>
      ))}
    </Fact>
  );
}

/** Said already by other lines, or by the sentence. */
const SAID = new Set(['by', 'datasets', 'allowed']);

/** The rest of what the event knows, with names in place of ids. */
export function factsOf({
  data,
  names,
}: Pick<EventRecord, 'data' | 'names'>): [name: string, value: string][] {
  const word = (value: unknown): string => {
    if (typeof value === 'boolean') return value ? t`yes` : t`no`;
    if (Array.isArray(value)) return value.map(word).join(', ');
    if (typeof value === 'object' && value !== null) {
      return Object.entries(value)
        .map(([key, each]) => `${title(key)}: ${word(each)}`)
        .join('; ');
    }
    return names[String(value)] ?? String(value);
  };
  return Object.entries(data)
    .filter(([key, value]) => !SAID.has(key) && value !== null && value !== '')
    .map(([key, value]): [string, string] => [title(key), word(value)])
    .filter(([, value]) => value !== '');
}

function title(key: string): string {
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
