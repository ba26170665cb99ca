/** Files that go with the message being written. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Text } from '@mantine/core';
import { Paperclip, X } from 'lucide-react';
import { useFormats } from '@/components/format';
import classes from './composer.module.css';
import type { Attached } from './use-attachments';

interface Props {
  files: Attached[];
  onRemove: (file: Attached) => void;
}

export function AttachedFiles({ files, onRemove }: Props) {
  const formats = useFormats();
  if (files.length === 0) return null;
  return (
    <ul className={classes.files} aria-label={t`Attached files`}>
      {files.map((file) => (
        <li key={file.id}>
          <Paperclip size={13} aria-hidden />
          <span>{file.name}</span>
          <Text span size="xs" c="dimmed" className="tabular">
            {file.upload === null
              ? `${Math.floor((file.sent / Math.max(file.size, 1)) * 100)} %`
              : formats.bytes(file.size)}
          </Text>
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={t`Remove ${file.name}`}
            onClick={() => onRemove(file)}
          >
            <X size={12} aria-hidden />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}
