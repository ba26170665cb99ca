/** Says calmly that no model is set up, what works anyway, and how to add one; nothing waits for it. */
import { Code } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Info } from 'lucide-react';
import { aboutQuery } from '@/api/about';
import classes from './chat.module.css';

/** Whether plans are made by rules; unknown counts as no. */
export function useHasNoModel(): boolean {
  const { data } = useQuery(aboutQuery);
  return data?.features.models.length === 0;
}

export function WithoutModel() {
  const isWithout = useHasNoModel();
  if (!isWithout) return null;
  return (
    <div className={classes.note} role="note" aria-label="Without a model">
      <Info size={14} aria-hidden />
      <div>
        No model is configured. Steward plans by rules and says so; questions about your tables,
        recipes (<Code>/</Code>), <Code>SQL:</Code> and <Code>PYTHON:</Code> work.
        <details>
          <summary>Add a model</summary>
          <p>Set these where Steward is started, then start it again:</p>
          <pre>
            STEWARD_MODELS__DEFAULT__PROVIDER=ollama{'\n'}
            STEWARD_MODELS__DEFAULT__NAME=qwen3:8b
          </pre>
          <p>
            <Code>steward doctor</Code> then tests it. Other providers, keys and prices are in the
            guide <Code>docs/guides/models.md</Code>.
          </p>
        </details>
      </div>
    </div>
  );
}
