/** What is in the project, what to do next and what happened last. */
import { t } from '@lingui/core/macro';
import { Anchor, Badge, Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { datasetsQuery } from '@/api/datasets';
import { roleName } from '@/api/roles';
import { projectPath, useMay, useProject } from '@/app/project';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { DatasetTable } from '@/pages/datasets/DatasetTable';
import classes from './home.module.css';

/** What need not hold up the first page. */
const RecentActivity = lazy(() => import('./RecentActivity'));
const NextSteps = lazy(() => import('./NextSteps'));
const WaitingHere = lazy(() => import('./WaitingHere'));
const AskBox = lazy(() => import('./AskBox'));

export default function HomePage() {
  const project = useProject();
  const mayAsk = useMay('operator');
  const datasets = useInfiniteQuery(datasetsQuery(project.id));
  const listed = projectPath(project.id, 'datasets');
  return (
    <Page
      title={project.name}
      description={
        <Group gap={6} component="span">
          {t`${project.organisation.name} · you are ${roleName(project.role)}`}
          {project.is_demo && (
            <Badge size="sm" variant="light" component="span">
              {t`Demo`}
            </Badge>
          )}
        </Group>
      }
    >
      <div className={classes.columns}>
        <div className={classes.main}>
          {mayAsk && (
            <Suspense fallback={<div className={classes.asking} aria-busy />}>
              <AskBox projectId={project.id} />
            </Suspense>
          )}
          <Suspense>
            <WaitingHere projectId={project.id} />
          </Suspense>
          <Section
            title={t`Datasets`}
            description={
              project.is_demo
                ? t`Three systems of one made-up company: the same customers, spelt differently, with gaps. Real enough to try things on.`
                : undefined
            }
            actions={
              <Anchor component={Link} to={listed} size="xs" flex="none">
                {t`See all`}
              </Anchor>
            }
          >
            <DatasetTable
              projectId={project.id}
              query={datasets}
              compact
              begin={
                <Button component={Link} to={`${listed}?dialog=upload`} mt="xs">
                  {t`Load files`}
                </Button>
              }
            />
          </Section>
        </div>
        <div className={classes.side}>
          <Suspense>
            <NextSteps />
            <RecentActivity projectId={project.id} />
          </Suspense>
        </div>
      </div>
    </Page>
  );
}
