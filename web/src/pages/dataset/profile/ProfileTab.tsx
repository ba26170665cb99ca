/** What is in the dataset: notes, columns, keys, columns that are alike or go together. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Text } from '@mantine/core';
import { Info } from 'lucide-react';
import { useState } from 'react';
import type { Dataset } from '@/api/data-types';
import { correlationsOf, profileOf } from '@/api/insights';
import { useInsight } from '@/api/long-work';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { InsightState } from '@/components/InsightState';
import { Section } from '@/components/Section';
import { ShownOf } from '@/components/ShownOf';
import { ColumnCard, percent } from './ColumnCard';
import classes from './profile.module.css';
import type { Correlations, Profile } from './profile-types';

const ASSOCIATIONS_SHOWN = 12;

export default function ProfileTab({ dataset }: { dataset: Dataset }) {
  const project = useProject();
  const profile = useInsight<Profile>(
    project.id,
    ['profile', dataset.name, dataset.version],
    profileOf(project.id, dataset.name),
  );
  const correlations = useInsight<Correlations>(
    project.id,
    ['correlations', dataset.name, dataset.version],
    correlationsOf(project.id, dataset.name),
  );
  return (
    <div style={{ display: 'flex', flexDirection: 'column', gap: '2rem' }}>
      <InsightState insight={profile}>{(found) => <ProfileView profile={found} />}</InsightState>
      <Section
        title={t`Columns that go together`}
        description={t`Each with the measure that suits its columns; weak and doubtful ones are left out.`}
      >
        <InsightState insight={correlations}>
          {(found) => <Associations correlations={found} />}
        </InsightState>
      </Section>
    </div>
  );
}

function ProfileView({ profile }: { profile: Profile }) {
  const formats = useFormats();
  return (
    <>
      {profile.sampled && (
        <Alert variant="light" icon={<Info size={16} aria-hidden />}>
          {t`From a sample of ${formats.number(profile.profiled_rows)} of ${formats.number(profile.rows)} rows.`}
        </Alert>
      )}
      {profile.notes.length > 0 && (
        <Section title={t`Worth knowing`}>
          <ul className={classes.list}>
            {profile.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={t`Columns`}>
        <div className={classes.cards}>
          {profile.columns.map((column) => (
            <ColumnCard key={column.name} column={column} />
          ))}
        </div>
      </Section>
      <KeysAndTwins profile={profile} />
    </>
  );
}

function KeysAndTwins({ profile: { keys, alike } }: { profile: Profile }) {
  const formats = useFormats();
  return (
    <>
      {keys.length > 0 && (
        <Section title={t`Suggested keys`}>
          <ul className={classes.list}>
            {keys.map(({ columns, why }) => (
              <li key={columns.join(' ')}>
                <b>{columns.join(' + ')}</b>: {why}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {alike.length > 0 && (
        <Section title={t`Columns that are alike`}>
          <ul className={classes.list}>
            {alike.map(({ first, second, relation, share }) => (
              <li key={`${first} ${second}`}>
                <Trans>
                  <b>{first}</b> and <b>{second}</b> are {relation} in {percent(share, formats)} of
                  the rows
                </Trans>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Associations({ correlations }: { correlations: Correlations }) {
  const formats = useFormats();
  const [wantsAll, setWantsAll] = useState(false);
  const found = correlations.associations;
  const shown = wantsAll ? found : found.slice(0, ASSOCIATIONS_SHOWN);
  if (shown.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t`None of the ${formats.number(correlations.pairs_tried)} pairs looked at go together clearly.`}
      </Text>
    );
  }
  return (
    <>
      <ul className={classes.list}>
        {shown.map(({ first, second, strength, summary, warnings }) => (
          <li key={`${first} ${second}`}>
            <div className={classes.strength}>
              <span>
                {summary}
                {warnings.map((warning) => (
                  <Text key={warning} size="xs" c="dimmed">
                    {warning}
                  </Text>
                ))}
              </span>
              <div className={classes.meter} aria-hidden>
                <div style={{ width: `${Math.abs(strength) * 100}%` }} />
              </div>
            </div>
          </li>
        ))}
      </ul>
      <ShownOf
        shown={shown.length}
        all={found.length}
        of={t`pairs of columns`}
        onShowAll={() => setWantsAll(true)}
      />
    </>
  );
}
