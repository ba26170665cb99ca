/** Links for people without an account: to fetch one file, or to send one. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { FileLink, NewDownloadLink, NewUploadLink } from './types';

export function linksQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'link'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/links', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

function useMaking<Body>(projectId: string, make: (body: Body) => Promise<FileLink>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: make,
    onSuccess: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'link') }),
  });
}

export function useMakeDownloadLink(projectId: string) {
  return useMaking(projectId, (body: NewDownloadLink) =>
    bodyOf(
      api.POST('/api/v1/projects/{project_id}/links/downloads', {
        params: { path: { project_id: projectId } },
        body,
      }),
    ),
  );
}

export function useMakeUploadLink(projectId: string) {
  return useMaking(projectId, (body: NewUploadLink) =>
    bodyOf(
      api.POST('/api/v1/projects/{project_id}/links/uploads', {
        params: { path: { project_id: projectId } },
        body,
      }),
    ),
  );
}

export function useRevokeLink(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (linkId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/links/{link_id}', {
        params: { path: { project_id: projectId, link_id: linkId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'link') }),
  });
}

/** The page on which a visitor sends the file. What follows the # stays in the browser and gets into no log. */
export function sendingPage(address: string): string {
  const url = new URL(address);
  return `${url.origin}/send#${url.pathname.split('/').filter(Boolean).at(-1) ?? ''}`;
}

/** Sends a visitor's file. */
export function useSendByLink(token: string) {
  return useMutation({
    mutationFn: (file: File) =>
      bodyOf(
        api.PUT('/api/v1/links/{token}/{name}', {
          params: { path: { token, name: file.name } },
          body: file as never,
          bodySerializer: (body: unknown) => body as never,
          headers: { 'Content-Type': 'application/octet-stream' },
        }),
      ),
  });
}
