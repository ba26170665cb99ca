/** Light, dark or as the system says; kept in this browser. */
import { t } from '@lingui/core/macro';
import { SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { COLOUR_SCHEMES } from '@/app/account';

export function ColourScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      fullWidth
      aria-label={t`Colour scheme`}
      data={[...COLOUR_SCHEMES]}
      value={colorScheme}
      onChange={setColorScheme}
    />
  );
}
