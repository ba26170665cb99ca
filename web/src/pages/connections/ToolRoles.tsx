/** What each argument of a server's tool is for: proposed by Steward, confirmed or changed by a person. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Select, Stack, Text } from '@mantine/core';
import type { ServerTool } from '@/api/connections';
import { ARGUMENT_ROLES, type DeclaredRole } from '@/components/argument-roles';

/** Path of an argument → what a person says it is for; null: they have not said. */
export type ChosenRoles = Record<string, DeclaredRole | null>;

const CHOICES = Object.entries(ARGUMENT_ROLES)
  .filter(([role]) => role !== 'undeclared')
  .map(([value, { word }]) => ({ value, label: word }));

export function proposedRoles(tool: ServerTool): ChosenRoles {
  return Object.fromEntries(
    tool.arguments_by_role.map(({ path, role, proposed }) => [path, role ?? proposed]),
  );
}

/** Only what was chosen is sent; the rest counts as the strictest. */
export function saidRoles(chosen: ChosenRoles): Record<string, DeclaredRole> {
  return Object.fromEntries(
    Object.entries(chosen).filter((each): each is [string, DeclaredRole] => each[1] !== null),
  );
}

interface Props {
  tool: ServerTool;
  chosen: ChosenRoles;
  onChange: (chosen: ChosenRoles) => void;
  /** Absent while the roles are confirmed by accepting the tool. */
  onConfirm?: () => void;
  isPending: boolean;
}

export function ToolRoles({ tool, chosen, onChange, onConfirm, isPending }: Props) {
  if (tool.arguments_by_role.length === 0) return null;
  const confirmed = Object.fromEntries(
    tool.arguments_by_role.map(({ path, role }) => [path, role]),
  );
  const isChanged = Object.keys(chosen).some((path) => chosen[path] !== confirmed[path]);
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t`What the arguments are for`}
      </Text>
      {tool.state === 'accepted' && !tool.roles_confirmed && (
        <Alert color="yellow" variant="light">
          {t`No one has confirmed this yet. Until then agents can only use values that you or an approved plan name.`}
        </Alert>
      )}
      {tool.arguments_by_role.map(({ path, description }) => {
        const role = chosen[path] ?? null;
        return (
          <Select
            key={path}
            size="xs"
            maw="24rem"
            label={path}
            description={role === null ? description : ARGUMENT_ROLES[role].help}
            placeholder={t`Choose what it is for`}
            data={CHOICES}
            value={role}
            clearable
            onChange={(next) => onChange({ ...chosen, [path]: next as DeclaredRole | null })}
          />
        );
      })}
      {onConfirm && (isChanged || !tool.roles_confirmed) && (
        <div>
          <Button
            size="compact-sm"
            variant="light"
            aria-label={t`Confirm the roles of ${tool.name}`}
            loading={isPending}
            onClick={onConfirm}
          >
            {t`Confirm`}
          </Button>
        </div>
      )}
    </Stack>
  );
}
