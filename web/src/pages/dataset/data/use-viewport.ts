/** What part of a scrolling table is looked at. */
import { type RefObject, useEffect, useRef, useState } from 'react';
import {
  HEADER_HEIGHT,
  revealRow,
  ROW_HEIGHT,
  scrolledTo,
  TALLEST,
  type Viewport,
} from './grid-window';

export function useViewport(scroller: RefObject<HTMLDivElement | null>, rows: number) {
  const last = useRef(0);
  const [viewport, setViewport] = useState<Viewport>({ top: 0, height: 600 });
  const [across, setAcross] = useState({ left: 0, width: 1200 });
  /** The scroller's own position, to draw the rows where the reader looks. */
  const [scrolled, setScrolled] = useState(0);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => {
      setViewport(({ top }) => ({ top, height: element.clientHeight - HEADER_HEIGHT }));
      setAcross(({ left }) => ({ left, width: element.clientWidth }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);

  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    const now = element.scrollTop;
    const before = last.current;
    last.current = now;
    const furthest = element.scrollHeight - element.clientHeight;
    setScrolled(now);
    setAcross({ left: element.scrollLeft, width: element.clientWidth });
    setViewport((seen) => ({
      ...seen,
      top: scrolledTo({ before, now, furthest, viewport: seen, rows }),
    }));
  };

  /** Scrolls as little as needed to show a row, and a part between two distances from the left. */
  const reveal = (row: number, left: number, right: number) => {
    const element = scroller.current;
    if (!element) return;
    if (left < element.scrollLeft) element.scrollTo({ left });
    else if (right > element.scrollLeft + element.clientWidth) {
      element.scrollTo({ left: right - element.clientWidth });
    }
    const top = Math.max(0, revealRow(row, viewport));
    if (top === viewport.top) return;
    const full = rows * ROW_HEIGHT;
    const furthest = element.scrollHeight - element.clientHeight;
    const lowest = Math.max(1, full - viewport.height);
    const isScaled = full > TALLEST;
    const inside = Math.min(Math.max(1, (top / lowest) * furthest), furthest - 1);
    element.scrollTo({ top: !isScaled || top === 0 || top >= lowest ? top : inside });
    last.current = element.scrollTop;
    setScrolled(element.scrollTop);
    setViewport({ ...viewport, top });
  };

  /** Back to the first row, as after sorting. */
  const rewind = () => {
    scroller.current?.scrollTo({ top: 0 });
    last.current = 0;
    setScrolled(0);
    setViewport((seen) => ({ ...seen, top: 0 }));
  };

  return { viewport, across, scrolled, onScroll, reveal, rewind };
}
