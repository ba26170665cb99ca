/** Files that a call made: a small picture where there is one, and the way to download it. */
import { Anchor, Text } from '@mantine/core';
import { FileText } from 'lucide-react';
import type { Artifact } from '@/api/run-types';
import { artifactAddress } from '@/api/runs';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import classes from './run.module.css';

export function Artifacts({ runId, artifacts }: { runId: string; artifacts: Artifact[] }) {
  const project = useProject();
  const formats = useFormats();
  return (
    <ul className={classes.artifacts}>
      {artifacts.map(({ digest, name, media_type: type, size }) => {
        const address = artifactAddress(project.id, runId, digest);
        return (
          <li key={`${digest}/${name}`} className={classes.artifact}>
            <div className={classes.thumbnail}>
              {type.startsWith('image/') ? (
                <img src={address} alt={name} loading="lazy" />
              ) : (
                <FileText size={28} aria-hidden />
              )}
            </div>
            <Anchor href={address} download={name} size="sm">
              {name}
            </Anchor>
            <Text size="xs" c="dimmed">
              {formats.bytes(size)}
            </Text>
          </li>
        );
      })}
    </ul>
  );
}
