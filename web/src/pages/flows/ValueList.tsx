/** The values of earlier steps, as their last run left them: dragged into a field, or put in by click. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { use } from 'react';
import type { ValueSource } from './known-values';
import { DRAGGED_VALUE, ValueTarget } from './value-target';
import classes from './flows.module.css';

export function ValueList({ sources }: { sources: readonly ValueSource[] }) {
  const target = use(ValueTarget);
  return (
    <details className={classes.more}>
      <summary>{t`Values of earlier steps`}</summary>
      <Text size="xs" c="dimmed" mt={4}>
        {t`Drag a value into a field. A click puts it into the field that you used last. Types and samples are those of the last run.`}
      </Text>
      {sources.map(({ title, values }) => (
        <section key={title} aria-label={t`Values: ${title}`}>
          <h3 className={classes.group}>{title}</h3>
          <ul className={classes.values}>
            {values.map(({ name, type, sample }) => (
              <li key={name}>
                <button
                  type="button"
                  className={classes.value}
                  draggable
                  onDragStart={({ dataTransfer }) => {
                    dataTransfer.setData(DRAGGED_VALUE, name);
                    dataTransfer.setData('text/plain', `\${${name}}`);
                  }}
                  onClick={() => target.current?.(name)}
                >
                  <span className={classes.code}>{name}</span>
                  <span className={classes.valueType}>
                    {type}
                    {sample !== '' && ` · ${sample}`}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </details>
  );
}
