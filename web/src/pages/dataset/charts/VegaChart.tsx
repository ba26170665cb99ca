/** Draws a Vega-Lite specification. It is interpreted, not compiled, and may load nothing from anywhere. */
import { t } from '@lingui/core/macro';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import embed, { type EmbedOptions, type Result } from 'vega-embed';
import { expressionInterpreter } from 'vega-interpreter';
import { FormError } from '@/components/FormError';
import classes from './charts.module.css';

const refuse = () => Promise.reject(new Error(t`A chart brings its own data and loads none.`));

/** Specifications can come from anyone; no address in them is ever followed. */
const closedLoader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

const BOTH = {
  background: 'transparent',
  font: "'Inter Variable', sans-serif",
  axis: { labelFontSize: 11, titleFontWeight: 500 },
  title: { fontSize: 13, fontWeight: 600, anchor: 'start' },
};
const LIGHT = { ...BOTH, mark: { color: '#127a75' } };
const DARK = {
  ...BOTH,
  mark: { color: '#31a59e' },
  title: { ...BOTH.title, color: '#e1e5ea', subtitleColor: '#9aa4b0' },
  axis: {
    ...BOTH.axis,
    labelColor: '#bcc4ce',
    titleColor: '#e1e5ea',
    gridColor: '#2a3038',
    domainColor: '#5d6773',
  },
  legend: { labelColor: '#bcc4ce', titleColor: '#e1e5ea' },
  view: { stroke: '#2a3038' },
};

interface Props {
  spec: Record<string, unknown>;
  description: string;
  /** Hands over what can export the chart. */
  onDrawn: (view: Result['view'] | null) => void;
}

export default function VegaChart({ spec, description, onDrawn }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let result: Result | undefined;
    const left = new AbortController();
    const options: EmbedOptions = {
      ast: true,
      expr: expressionInterpreter,
      loader: closedLoader,
      actions: false,
      renderer: 'svg',
      config: (scheme === 'dark' ? DARK : LIGHT) as NonNullable<EmbedOptions['config']>,
    };
    // Charts made of several views have no width of their own.
    const isSingle = 'mark' in spec || 'layer' in spec;
    const size = { width: 'container', autosize: { type: 'fit-x', contains: 'padding' } };
    const fitted = isSingle ? { ...spec, ...size } : spec;
    void (async () => {
      try {
        result = await embed(element, fitted, options);
        setError(null);
        if (left.signal.aborted) result.finalize();
        else onDrawn(result.view);
      } catch (problem) {
        setError(problem);
      }
    })();
    return () => {
      left.abort();
      onDrawn(null);
      result?.finalize();
    };
  }, [spec, scheme, onDrawn]);
  return (
    <>
      <FormError error={error} />
      <div ref={place} className={classes.drawing} role="img" aria-label={description} />
    </>
  );
}
