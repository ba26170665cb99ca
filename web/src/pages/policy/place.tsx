/** Which of the texts is shown: that of the organisation, of the project, or of a playbook. */
import { t } from '@lingui/core/macro';
import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { PolicyPlace } from '@/api/policy';
import type { PolicyLevel } from '@/api/run-types';

const LEVELS: { value: PolicyLevel; label: string }[] = [
  { value: 'project', label: t`Project` },
  { value: 'organisation', label: t`Organisation` },
  { value: 'playbook', label: t`Playbook` },
];

export function usePlace() {
  return useState<PolicyPlace>({ level: 'project', subject: null });
}

interface Props {
  place: PolicyPlace;
  onChange: (place: PolicyPlace) => void;
}

export function PolicyPlaceChoice({ place, onChange }: Props) {
  const [name, setName] = useState(place.subject ?? '');
  const choose = (level: PolicyLevel, subject: string) =>
    onChange({ level, subject: level === 'playbook' ? subject.trim() || null : null });
  return (
    <Group gap="sm" mb="md" align="center">
      <SegmentedControl
        aria-label={t`Level`}
        data={LEVELS}
        value={place.level}
        onChange={(level) => choose(level, name)}
      />
      {place.level === 'playbook' && (
        <TextInput
          aria-label={t`Playbook`}
          placeholder={t`Name of the playbook, then Enter`}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          onBlur={() => choose('playbook', name)}
          onKeyDown={({ key }) => key === 'Enter' && choose('playbook', name)}
        />
      )}
    </Group>
  );
}
