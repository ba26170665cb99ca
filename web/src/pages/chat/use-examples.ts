/** What one can ask here, from the project's own data; the server offers only what chat answers. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Suggestion } from '@/api/chat-types';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { suggestionsQuery } from '@/api/recipes';

interface Examples {
  shown: Suggestion[];
  hasData: boolean;
  isLoading: boolean;
}

export function useExamples(projectId: string, most: number): Examples {
  const datasets = useInfiniteQuery(datasetsQuery(projectId));
  const suggestions = useQuery(suggestionsQuery(projectId));
  const tables = itemsOf(datasets.data);
  const offered: Suggestion[] = suggestions.data ?? [];
  const shown = offered.filter(
    ({ message }, index) =>
      offered.findIndex((other) => other.message.toLowerCase() === message.toLowerCase()) === index,
  );
  return {
    shown: shown.slice(0, most),
    hasData: tables.length > 0,
    isLoading: datasets.isPending || suggestions.isPending,
  };
}
