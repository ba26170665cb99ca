/** Charts of the dataset: suggested ones, and any other by choosing its columns. */
import { t } from '@lingui/core/macro';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChartColumn, Download } from 'lucide-react';
import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { api, bodyOf } from '@/api/client';
import type { Dataset } from '@/api/data-types';
import { projectKey } from '@/api/keys';
import { useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { showFailure } from '@/components/undo';
import { RepeatButton } from '@/pages/flows/RepeatButton';
import {
  asRequest,
  type ChartRequest,
  describeChart,
  type DrawnChart,
  isComplete,
} from './chart-request';
import { ChartFields } from './ChartFields';
import classes from './charts.module.css';

const VegaChart = lazy(() => import('./VegaChart'));

export default function ChartsTab({ dataset }: { dataset: Dataset }) {
  const project = useProject();
  const suggestions = useQuery({
    queryKey: projectKey(project.id, 'data', 'charts', dataset.name, dataset.version),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/datasets/{dataset}/charts', {
          params: { path: { project_id: project.id, dataset: dataset.name } },
          signal,
        }),
      );
      return items as unknown as ChartRequest[];
    },
  });
  const [chosen, setChosen] = useState<ChartRequest | null>(null);
  if (suggestions.isError) {
    return <ErrorState error={suggestions.error} retry={() => void suggestions.refetch()} />;
  }
  if (suggestions.isPending) return <Skeleton height={240} aria-busy />;
  const chart = chosen ??
    suggestions.data[0] ?? { kind: 'bar', x: dataset.columns[0]?.name ?? null };
  return (
    <div className={classes.columns}>
      <div className={classes.choices}>
        <Stack gap="xs">
          <ChartFields chart={chart} columns={dataset.columns} onChange={setChosen} />
        </Stack>
        {suggestions.data.length > 0 && (
          <div>
            <Text size="sm" fw={600} mb={4} id="suggested-charts">
              {t`Suggested`}
            </Text>
            <ul className={classes.list} aria-labelledby="suggested-charts">
              {suggestions.data.map((suggestion, index) => (
                <li key={index}>
                  <button
                    type="button"
                    aria-pressed={suggestion === chart}
                    className={classes.suggestion}
                    onClick={() => setChosen(suggestion)}
                  >
                    {describeChart(suggestion)}
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      {isComplete(chart) ? (
        <Drawing dataset={dataset} chart={chart} />
      ) : (
        <EmptyState icon={ChartColumn} picture="chart" title={t`Choose what to draw`}>
          {t`This kind of chart needs another column.`}
        </EmptyState>
      )}
    </div>
  );
}

function Drawing({ dataset, chart }: { dataset: Dataset; chart: ChartRequest }) {
  const project = useProject();
  const formats = useFormats();
  const request = useMemo(() => asRequest(chart), [chart]);
  const drawn = useQuery({
    queryKey: ['chart', project.id, dataset.version, request, formats.locale],
    queryFn: async ({ signal }) => {
      const { chart: answer } = await bodyOf(
        api.POST('/api/v1/projects/{project_id}/datasets/{dataset}/charts', {
          params: { path: { project_id: project.id, dataset: dataset.name } },
          body: { version: dataset.version, chart: request, locale: formats.locale },
          signal,
        }),
      );
      return answer as unknown as DrawnChart;
    },
    staleTime: Infinity,
  });
  const [view, setView] = useState<Exporter | null>(null);
  const keep = useCallback((next: Exporter | null) => setView(() => next), []);
  if (drawn.isError) return <ErrorState error={drawn.error} retry={() => void drawn.refetch()} />;
  if (drawn.isPending) return <Skeleton height={320} aria-busy />;
  return (
    <div className={classes.chart}>
      <Suspense fallback={<Skeleton height={320} aria-busy />}>
        <VegaChart spec={drawn.data.spec} description={drawn.data.description} onDrawn={keep} />
      </Suspense>
      <Group gap="xs" justify="flex-end">
        <RepeatButton
          size="compact-sm"
          name={drawn.data.title || describeChart(chart)}
          work={{
            steps: [
              {
                title: describeChart(chart),
                tool: 'chart',
                arguments: { dataset: dataset.name, chart: request },
              },
            ],
          }}
        />
        {(['png', 'svg'] as const).map((format) => (
          <Button
            key={format}
            variant="default"
            size="compact-sm"
            disabled={view === null}
            leftSection={<Download size={13} aria-hidden />}
            onClick={() => void save(view, format, drawn.data.title)}
          >
            {format.toUpperCase()}
          </Button>
        ))}
      </Group>
    </div>
  );
}

interface Exporter {
  toImageURL: (type: 'png' | 'svg', scale?: number) => Promise<string>;
}

async function save(view: Exporter | null, format: 'png' | 'svg', title: string): Promise<void> {
  if (!view) return;
  try {
    const link = document.createElement('a');
    link.href = await view.toImageURL(format, 2);
    link.download = `${title}.${format}`;
    link.click();
  } catch (error) {
    showFailure(error);
  }
}
