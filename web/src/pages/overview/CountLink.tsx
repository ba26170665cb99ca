/** A number that leads to the list of what it counts. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useFormats } from '@/components/format';

interface Props {
  count: number;
  /** What is counted, as a name for the link. */
  of: string;
  to: string;
}

export function CountLink({ count, of, to }: Props) {
  const text = useFormats().number(count);
  if (count === 0) return <>{text}</>;
  return (
    <Anchor component={Link} to={to} inherit aria-label={`${text}: ${of}`}>
      {text}
    </Anchor>
  );
}
