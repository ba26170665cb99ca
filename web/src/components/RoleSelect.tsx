/** Choosing a role, with what each may do. */
import { Select, Text } from '@mantine/core';
import { ROLE_DESCRIPTIONS, roleName } from '@/api/roles';
import type { Role } from '@/api/types';

interface Props {
  /** Visible above the field; `aria-label` is for a field in a table. */
  label?: string;
  'aria-label'?: string;
  value: Role;
  roles: Role[];
  onChange: (role: Role) => void;
  disabled?: boolean;
  w?: string;
}

export function RoleSelect({ value, roles, onChange, ...rest }: Props) {
  // The current role is shown even where one may not hand it out.
  const options = roles.includes(value) ? roles : [...roles, value];
  return (
    <Select
      {...rest}
      data={options.map((role) => ({
        value: role,
        label: roleName(role),
        disabled: !roles.includes(role),
      }))}
      value={value}
      miw="7rem"
      allowDeselect={false}
      comboboxProps={{ width: '18rem', position: 'bottom-start' }}
      renderOption={({ option }) => (
        <div>
          <Text size="sm">{option.label}</Text>
          <Text size="xs" c="dimmed">
            {ROLE_DESCRIPTIONS[option.value]}
          </Text>
        </div>
      )}
      onChange={(next) => {
        if (next !== null) onChange(next);
      }}
    />
  );
}
