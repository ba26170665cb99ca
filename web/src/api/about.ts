/** What this installation is and is set up for. */
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/about', { signal })),
});
