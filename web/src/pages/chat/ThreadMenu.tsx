/** How a conversation works: what models may see, when plans are looked at first, and safe mode. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Popover, SegmentedControl, Stack, Switch, Text } from '@mantine/core';
import { Settings2 } from 'lucide-react';
import type { ThreadSettings } from '@/api/chat-types';
import { useMay } from '@/app/project';
import { SafeModeSwitch } from '@/pages/policy/SafeModeSwitch';

const REVIEWS = [
  { value: 'changes', label: t`Before changes` },
  { value: 'always', label: t`Always` },
  { value: 'never', label: t`Never` },
] satisfies { value: ThreadSettings['review']; label: string }[];

interface Props {
  settings: ThreadSettings;
  onChange: (change: Partial<ThreadSettings>) => void;
}

export function ThreadMenu({ settings, onChange }: Props) {
  const mayChange = useMay('operator');
  return (
    <Popover position="bottom-end" width={300} trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="default" size="lg" aria-label={t`Settings of this conversation`}>
          <Settings2 size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={t`Settings of this conversation`}>
        <Stack gap="md">
          <Switch
            label={t`Schema only`}
            description={t`Models see names and types of columns, never a row`}
            checked={settings.rows === 'schema-only'}
            disabled={!mayChange}
            onChange={({ currentTarget }) =>
              onChange({ rows: currentTarget.checked ? 'schema-only' : 'all' })
            }
          />
          <div>
            <Text size="sm" fw={500} mb={4}>
              {t`Ask me about plans`}
            </Text>
            <SegmentedControl
              fullWidth
              size="xs"
              aria-label={t`Ask me about plans`}
              data={REVIEWS}
              value={settings.review}
              disabled={!mayChange}
              onChange={(review) => onChange({ review })}
            />
          </div>
          <SafeModeSwitch />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
