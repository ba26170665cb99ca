/** A chart that a run left behind, fetched and drawn. */
import { t } from '@lingui/core/macro';
import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { ApiError } from '@/api/errors';
import { ErrorState } from '@/components/ErrorState';

const VegaChart = lazy(() => import('@/pages/dataset/charts/VegaChart'));
const nothing = () => undefined;

export function ChartArtifact({ name, address }: { name: string; address: string }) {
  const query = useQuery({
    queryKey: ['artifact', address],
    queryFn: async ({ signal }): Promise<Record<string, unknown>> => {
      const response = await fetch(address, { signal });
      if (!response.ok) throw await ApiError.fromResponse(response);
      return (await response.json()) as Record<string, unknown>;
    },
    // Its address is made of its content.
    staleTime: Infinity,
  });
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Loader size="sm" role="status" aria-label={t`Loading the chart`} />;
  return (
    <Suspense fallback={<Loader size="sm" role="status" aria-label={t`Loading the chart`} />}>
      <VegaChart spec={query.data} description={name} onDrawn={nothing} />
    </Suspense>
  );
}
