/** What a skill brings and what it leaves: its scripts as tools, and the tools it narrows agents to. */
import { t } from '@lingui/core/macro';
import { Code, Group, Stack, Text } from '@mantine/core';
import { Wrench } from 'lucide-react';
import type { SkillDetail } from '@/api/skills';
import { CodeBlock } from '@/components/CodeBlock';
import { EmptyState } from '@/components/EmptyState';
import { RiskChip } from '@/components/RiskChip';
import { Section } from '@/components/Section';
import classes from './skills.module.css';

export function SkillTools({ skill }: { skill: SkillDetail }) {
  return (
    <Stack gap="xl">
      <Section
        title={t`Scripts as tools`}
        description={t`They run in the sandbox, on the datasets that a call names, and pass the broker like every tool.`}
        framed
      >
        {skill.scripts.length === 0 ? (
          <EmptyState icon={Wrench} title={t`No scripts`}>
            {t`This skill has instructions only.`}
          </EmptyState>
        ) : (
          <ul className={classes.scripts}>
            {skill.scripts.map((script) => (
              <li key={script.file}>
                <Group gap="xs">
                  <Code fz="sm">{script.tool}</Code>
                  <RiskChip risk={script.risk} />
                </Group>
                <Text size="sm" my={6}>
                  {script.description}
                </Text>
                <details>
                  <summary>{t`Arguments`}</summary>
                  <CodeBlock
                    label={t`Arguments of ${script.tool}`}
                    code={JSON.stringify(script.arguments, null, 2)}
                  />
                </details>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section
        title={t`Allowed tools`}
        description={
          skill.allowed_tools === null
            ? t`An agent that uses this skill keeps all of its tools.`
            : t`An agent that uses this skill keeps these of its tools, and the scripts above.`
        }
      >
        {skill.allowed_tools !== null && (
          <Group gap={6}>
            {skill.allowed_tools.map((tool) => (
              <Code key={tool}>{tool}</Code>
            ))}
          </Group>
        )}
      </Section>
    </Stack>
  );
}
