/** Readings of questions: what can stand at each place of one, chosen from what definitions allow. */
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Reading = Schemas['Reading'];
export type ReadingChip = Schemas['Chip'];
export type Offer = Schemas['Offer'];
export type ReadingOption = Schemas['OptionOut'];
export type ReadingOptions = Schemas['ReadingOptions'];
export type ColumnRef = Schemas['ColumnRef'];

interface Asked {
  reading: Reading | null;
  /** Where something is chosen; null: only what the reading is. */
  pointer: string | null;
  search: string;
  /** Of a condition: the column whose values are offered. */
  column: ColumnRef | null;
}

export function readingOptionsQuery(projectId: string, asked: Asked) {
  const { reading, pointer, search, column } = asked;
  return listQuery<ReadingOption, ReadingOptions>(
    projectKey(projectId, 'reading-options', JSON.stringify(asked)),
    (page, signal) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/readings/options', {
          params: {
            path: { project_id: projectId },
            query: {
              ...page,
              ...(reading ? { reading: JSON.stringify(reading) } : {}),
              ...(pointer === null ? {} : { pointer }),
              ...(column ? { column: JSON.stringify(column) } : {}),
              search,
            },
          },
          signal,
        }),
      ),
  );
}
