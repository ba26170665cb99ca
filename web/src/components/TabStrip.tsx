/** The tabs of a page in one line: narrow screens scroll it, and the chosen one is always in sight. */
import { Tabs } from '@mantine/core';
import { useEffect, useRef } from 'react';
import classes from './TabStrip.module.css';

interface Props {
  tabs: readonly { id: string; label: string }[];
  /** The chosen one. */
  value: string | null | undefined;
}

export function TabStrip({ tabs, value }: Props) {
  const strip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const show = () => strip.current && bringIntoSight(strip.current);
    show();
    window.addEventListener('resize', show);
    return () => window.removeEventListener('resize', show);
  }, [value]);
  return (
    <Tabs.List ref={strip} className={classes.strip ?? ''}>
      {tabs.map(({ id, label }) => (
        <Tabs.Tab key={id} value={id}>
          {label}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  );
}

/** Scrolls the strip alone, unlike `scrollIntoView`, which moves the page as well. */
function bringIntoSight(strip: HTMLElement): void {
  const chosen = strip.querySelector('[aria-selected="true"]');
  if (chosen === null) return;
  const [outer, inner] = [strip.getBoundingClientRect(), chosen.getBoundingClientRect()];
  if (inner.right > outer.right) strip.scrollLeft += inner.right - outer.right;
  else if (inner.left < outer.left) strip.scrollLeft += inner.left - outer.left;
}
