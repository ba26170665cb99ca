/** Files that a call made: what is in each, the one a person came for first, and the way to download them. */
import { t } from '@lingui/core/macro';
import { Anchor, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { Artifact } from '@/api/run-types';
import { artifactAddress } from '@/api/runs';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { kindOf, KINDS, withPrints } from './files/kinds';
import classes from './run.module.css';

const FilePreview = lazy(() => import('./files/FilePreview'));

export function Artifacts({ runId, artifacts }: { runId: string; artifacts: Artifact[] }) {
  const project = useProject();
  const formats = useFormats();
  const ordered = withPrints(artifacts);
  return (
    <ul className={classes.artifacts}>
      {ordered.map(({ artifact, print }, index) => {
        const { digest, name, size } = artifact;
        const address = artifactAddress(project.id, runId, digest);
        return (
          <li
            key={`${digest}/${name}`}
            className={classes.artifact}
            data-first={index === 0 || undefined}
          >
            <div className={classes.thumbnail}>
              <Suspense>
                <FilePreview artifact={artifact} address={address} />
              </Suspense>
            </div>
            <Anchor href={address} download={name} size="sm">
              {name}
            </Anchor>
            <Text size="xs" c="dimmed">
              {KINDS[kindOf(artifact)].word} · {formats.bytes(size)}
              {print && (
                <>
                  {' · '}
                  <Anchor
                    href={artifactAddress(project.id, runId, print.digest)}
                    download={print.name}
                    inherit
                  >
                    {t`PDF, ${formats.bytes(print.size)}`}
                  </Anchor>
                </>
              )}
            </Text>
          </li>
        );
      })}
    </ul>
  );
}
