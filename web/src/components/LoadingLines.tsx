/** Stands where text will be. */
import { Skeleton, Stack } from '@mantine/core';

export function LoadingLines() {
  return (
    <Stack gap="sm" aria-busy>
      <Skeleton height={16} />
      <Skeleton height={16} />
      <Skeleton height={16} />
    </Stack>
  );
}
