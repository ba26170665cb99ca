/** Tools that can be called, flows made of them, and schedules that start flows. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { NewSchedule, Schedule, Tool } from './run-types';

export function toolsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['tools', projectId],
    queryFn: async ({ signal }): Promise<Tool[]> => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/tools', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      );
      return items;
    },
    staleTime: Infinity,
  });
}

/** Everything wrong with a flow. */
export function flowCheckQuery(projectId: string, flow: string) {
  return queryOptions({
    queryKey: ['flow-check', projectId, flow],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/flows/check', {
          params: { path: { project_id: projectId } },
          body: { flow },
          signal,
        }),
      ),
    enabled: flow.trim() !== '',
    placeholderData: (previous) => previous,
    gcTime: 60_000,
  });
}

export function schedulesQuery(projectId: string) {
  return listQuery<Schedule>(projectKey(projectId, 'schedule'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/schedules', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

/** The next three dates of a cron expression. */
export function momentsQuery(projectId: string, cron: string, timeZone: string) {
  return queryOptions({
    queryKey: ['schedule-moments', projectId, cron, timeZone],
    queryFn: async ({ signal }) => {
      const { moments } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/schedule-moments', {
          params: {
            path: { project_id: projectId },
            query: { cron, time_zone: timeZone },
          },
          signal,
        }),
      );
      return moments;
    },
    retry: false,
    placeholderData: (previous) => previous,
    gcTime: 60_000,
  });
}

export function useCreateSchedule(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewSchedule) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/schedules', {
          params: { path: { project_id: projectId } },
          body,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'schedule') }),
  });
}

/** Decides about moments that were missed: one run for the last of them, or none. */
export function useDecideMissed(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ schedule, run }: { schedule: Schedule; run: boolean }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/schedules/{schedule_id}/missed', {
          params: { path: { project_id: projectId, schedule_id: schedule.id } },
          body: { run },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'schedule') }),
  });
}

export type ScheduleChange = Partial<
  Pick<Schedule, 'name' | 'cron' | 'time_zone' | 'missed' | 'enabled'>
>;

export function useChangeSchedule(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ schedule, changes }: { schedule: Schedule; changes: ScheduleChange }) =>
      bodyOf(
        api.PATCH('/api/v1/projects/{project_id}/schedules/{schedule_id}', {
          params: {
            path: { project_id: projectId, schedule_id: schedule.id },
            header: { 'if-match': `"${schedule.revision}"` },
          },
          body: changes,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'schedule') }),
  });
}

export function useDeleteSchedule(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (scheduleId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/schedules/{schedule_id}', {
        params: { path: { project_id: projectId, schedule_id: scheduleId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'schedule') }),
  });
}
