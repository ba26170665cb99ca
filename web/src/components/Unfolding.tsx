/** A line that opens to the document behind it. */
import { Button, Stack } from '@mantine/core';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { CodeBlock } from './CodeBlock';

interface Props {
  line: string;
  /** What the document is, for the button that copies it. */
  label: string;
  document: unknown;
}

export function Unfolding({ line, label, document }: Props) {
  const [opened, setOpened] = useState(false);
  return (
    <Stack gap={6} align="flex-start">
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-expanded={opened}
        rightSection={<ChevronDown size={13} aria-hidden />}
        onClick={() => setOpened(!opened)}
      >
        {line}
      </Button>
      {opened && <CodeBlock label={label} code={JSON.stringify(document, null, 2)} />}
    </Stack>
  );
}
