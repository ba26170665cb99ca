/** What a skill brings and what it leaves: its scripts as tools, and the tools it narrows agents to. */
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
        title="Scripts as tools"
        description="They run in the sandbox, on the datasets that a call names, and pass the broker like every tool."
        framed
      >
        {skill.scripts.length === 0 ? (
          <EmptyState icon={Wrench} title="No scripts">
            This skill has instructions only.
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
                  <summary>Arguments</summary>
                  <CodeBlock
                    label={`Arguments of ${script.tool}`}
                    code={JSON.stringify(script.arguments, null, 2)}
                  />
                </details>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section
        title="Allowed tools"
        description={
          skill.allowed_tools === null
            ? 'An agent that uses this skill keeps all of its tools.'
            : 'An agent that uses this skill keeps these of its tools, and the scripts above.'
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
