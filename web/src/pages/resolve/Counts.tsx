/** Numbers with their names. */
import { useFormats } from '@/components/format';
import classes from './resolve.module.css';

export function Counts({ items }: { items: [string, number][] }) {
  const formats = useFormats();
  return (
    <dl className={classes.counts}>
      {items.map(([name, count]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{formats.number(count)}</dd>
        </div>
      ))}
    </dl>
  );
}
