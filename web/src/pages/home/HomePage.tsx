/** What is in the project, what to do next and what happened last. */
import { Badge, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { filesQuery } from '@/api/files';
import { roleName } from '@/api/roles';
import { useProject } from '@/app/project';
import { FileTable } from '@/pages/files/FileTable';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import classes from './home.module.css';
import { NextSteps } from './NextSteps';
import { RecentActivity } from './RecentActivity';

export default function HomePage() {
  const project = useProject();
  const files = useInfiniteQuery(filesQuery(project.id));
  return (
    <Page
      title={project.name}
      description={
        <Group gap={6} component="span">
          {project.organisation.name} · you are {roleName(project.role)}
          {project.is_demo && (
            <Badge size="sm" variant="light" component="span">
              Demo
            </Badge>
          )}
        </Group>
      }
    >
      <div className={classes.columns}>
        <div className={classes.main}>
          <Section
            title={project.is_demo ? 'Sample files' : 'Files'}
            description={
              project.is_demo
                ? 'Three systems of one made-up company: the same customers, spelt differently, with gaps. Real enough to try things on.'
                : undefined
            }
          >
            <FileTable projectId={project.id} query={files} />
          </Section>
        </div>
        <div className={classes.side}>
          <NextSteps />
          <RecentActivity projectId={project.id} />
        </div>
      </div>
    </Page>
  );
}
