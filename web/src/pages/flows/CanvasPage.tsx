/** One flow on the canvas: drawn, checked while it changes, saved as a revision, run. */
import { plural, t } from '@lingui/core/macro';
import { ActionIcon, Anchor, Button, Group, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useNavigate } from '@tanstack/react-router';
import { FlaskConical, LayoutGrid, Play, Redo2, Rocket, Save, Undo2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { ApiError } from '@/api/errors';
import { flowPaletteQuery, languageOf } from '@/api/flows';
import { itemsOf } from '@/api/lists';
import {
  type Draft,
  draftQuery,
  type PlaybookDetail,
  playbookQuery,
  playbookRunsQuery,
  runPlaybook,
  useSaveDrawing,
} from '@/api/playbooks';
import { priceQuery } from '@/api/playbook-tests';
import { type NodeStanding, runQuery, standingsQuery } from '@/api/runs';
import { toolsQuery } from '@/api/tools';
import { projectPath, useMay, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { LoadingLines } from '@/components/LoadingLines';
import { Page } from '@/components/Page';
import { showDone, showFailure } from '@/components/undo';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { arrangeAside } from '@/flows/arrange-aside';
import { setValue, valueAt } from '@/flows/document';
import { edgesOf, graphsWithin } from '@/flows/graph';
import { type Drawing, isSameDrawing, mergeDrawings, movedByBoth } from '@/flows/merge';
import { place, type Placed, type Point, readLayout } from '@/flows/layout';
import { usePlaybookCheck } from '../playbooks/PlaybookField';
import { Conflict } from './Conflict';
import { DraftState } from './DraftState';
import { RunStrip } from './RunStrip';
import { runPriceText } from './standing';
import { StudioView } from './StudioView';
import { Watchers } from './Watchers';
import { useDraft } from './use-draft';
import { type Studio, useStudio } from './use-studio';
import classes from './flows.module.css';

const NEW_FLOW = `format: 1
id: new-flow
name: New flow
budget:
  usd: 1
  seconds: 3600
graph:
  nodes: []
`;

const NONE: ReadonlyMap<string, NodeStanding> = new Map();

export default function CanvasPage() {
  const project = useProject();
  const playbookId = usePathParam('playbookId') ?? '';
  const isNew = playbookId === 'new';
  const playbook = useQuery({ ...playbookQuery(project.id, playbookId), enabled: !isNew });
  const palette = useQuery(flowPaletteQuery(project.id));
  const mayWrite = useMay('editor');
  const draft = useQuery({ ...draftQuery(project.id, playbookId), enabled: mayWrite });
  // Kept here: a new flow that is saved becomes another studio.
  const [isAdding, setAdding] = useState(false);
  const error = playbook.error ?? palette.error ?? draft.error;
  if (error) {
    return (
      <Page title={t`Flow`} parent={{ label: t`Flows`, to: projectPath(project.id, 'flows') }}>
        <ErrorState error={error} retry={() => void playbook.refetch()} />
      </Page>
    );
  }
  const isReading = mayWrite && draft.data === undefined;
  if (!palette.data || isReading || (!isNew && !playbook.data)) return <LoadingLines />;
  return (
    <FlowStudio
      key={playbookId}
      playbook={playbook.data ?? null}
      palette={palette.data}
      draft={draft.data ?? null}
      isAdding={isAdding}
      onAdding={() => setAdding(true)}
    />
  );
}

interface Props {
  playbook: PlaybookDetail | null;
  palette: Parameters<typeof languageOf>[0];
  draft: Draft | null;
  isAdding: boolean;
  onAdding: () => void;
}

function FlowStudio({ playbook, palette, draft, isAdding, onAdding }: Props) {
  const project = useProject();
  const navigate = useNavigate();
  const mayWrite = useMay('editor');
  const mayEdit = playbook === null ? mayWrite : playbook.may_edit;
  const language = useMemo(() => languageOf(palette), [palette]);
  const opened = openedDraft(playbook, draft);
  const studio = useStudio(
    opened ? readDrawing(opened.base) : drawingOf(playbook),
    language,
    opened && readDrawing(opened.drawing),
  );
  const tools = useQuery(toolsQuery(project.id)).data;
  const check = usePlaybookCheck(studio.text);
  const [runId, setRunId] = useSearchParam('run');
  const run = useQuery({
    ...runQuery(project.id, runId ?? ''),
    enabled: runId !== null,
  }).data;
  const past = useInfiniteQuery({
    ...playbookRunsQuery(project.id, playbook?.id ?? ''),
    enabled: playbook !== null,
  });
  const [otherId, setOtherId] = useSearchParam('other');
  const others = useQuery({
    ...standingsQuery(project.id, otherId ?? ''),
    enabled: runId !== null && otherId !== null,
  }).data;
  const price = useQuery({
    ...priceQuery(project.id, playbook?.id ?? ''),
    enabled: playbook !== null,
  }).data;
  const lastId = runId ?? itemsOf(past.data)[0]?.id ?? null;
  const standings = useQuery({
    ...standingsQuery(project.id, lastId ?? ''),
    enabled: lastId !== null,
  }).data;
  const save = useSaveDrawing(project.id);
  const begin = useMutation({
    mutationFn: (id: string) => runPlaybook(project.id, id, {}),
    onSuccess: ({ id }) => setRunId(id),
    onError: showFailure,
  });
  // What the changes were made to: another version of it is somebody else's, and is not overwritten unseen.
  const [base, setBase] = useState(opened?.base_version ?? playbook?.version ?? 0);
  const { keeping, drop } = useDraft({
    projectId: project.id,
    playbookId: playbook?.id ?? 'new',
    studio,
    baseVersion: base,
    version: draft?.version ?? 0,
    mayEdit,
  });
  // A draft is kept and waits for its author; only one that could not be kept would be lost.
  const isAtRisk =
    studio.isChanged && (keeping.state === 'failed' || keeping.state === 'elsewhere');
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isAtRisk &&
      current.pathname !== next.pathname &&
      !save.isPending &&
      !globalThis.confirm(t`Leave without saving? Your draft could not be kept and will be lost.`),
    enableBeforeUnload: studio.isChanged && keeping.state !== 'kept',
    disabled: !studio.isChanged,
  });
  // Nothing of one's own is at stake: what somebody else saved is shown at once.
  if (playbook !== null && playbook.version > base && !studio.isChanged && !save.isPending) {
    setBase(playbook.version);
    const theirs = drawingOf(playbook);
    if (!isSameDrawing(theirs, studio.saved)) studio.takeIn(theirs, theirs);
  }
  const client = useQueryClient();
  /** What somebody else saved in between is taken along where no step was changed by both; the rest is shown. */
  const [isMerging, setMerging] = useState(false);
  const merge = async (drawing: Drawing) => {
    if (playbook === null) return;
    const fresh = await client.query({
      ...playbookQuery(project.id, playbook.id),
      staleTime: 0,
    });
    const theirs = drawingOf(fresh);
    const before = studio.saved.layout;
    const kept = mergeDrawings(studio.saved, drawing, theirs, language);
    // What was changed since Save was pressed stays on the canvas.
    const now = studio.current();
    const shown = isSameDrawing(now, drawing)
      ? kept
      : mergeDrawings(drawing, now, kept.drawing, language);
    if (kept.clashes.length + shown.clashes.length > 0) return;
    // At once, so that no key pressed now still changes the drawing of before.
    flushSync(() => studio.takeIn(shown.drawing, theirs));
    store(fresh.version, kept.drawing);
    const moved = movedByBoth(before, drawing.layout, theirs.layout);
    const names = moved.map((key) => `“${key}”`).join(', ');
    showDone(
      moved.length === 0
        ? t`Merged with what someone else saved in between`
        : t`Merged with what someone else saved in between. You both moved ${names}: your place is kept`,
    );
  };
  const store = (
    version = base,
    drawing: Drawing = { text: studio.text, layout: studio.layout },
  ) => {
    const saved = playbook === null ? null : { id: playbook.id, version };
    save.mutate(
      { playbook: saved, yaml: drawing.text, layout: { ...drawing.layout } },
      {
        onError: (error) => {
          if (!(error instanceof ApiError) || error.status !== 412) return;
          setMerging(true);
          merge(drawing)
            .catch(showFailure)
            .finally(() => setMerging(false));
        },
        onSuccess: (card) => {
          studio.markSaved(drawing);
          if (isSameDrawing(drawing, studio.current())) drop();
          setBase(card.version);
          showDone(playbook === null ? t`${card.name} is a draft now` : t`Saved ${card.name}`);
          if (playbook === null) {
            void navigate({ to: projectPath(project.id, 'flows', card.id), ignoreBlocker: true });
          }
        },
      },
    );
  };
  const name = valueAt(studio.document, ['name']);
  const title = typeof name === 'string' && name !== '' ? name : (playbook?.name ?? t`New flow`);
  const isStale = save.error instanceof ApiError && save.error.status === 412;
  const problems = check.check?.problems.length ?? 0;
  const asksFor = (playbook?.inputs.required ?? []) as string[];
  return (
    <Page
      title={title}
      width="full"
      parent={{ label: t`Flows`, to: projectPath(project.id, 'flows') }}
      actions={
        <>
          {mayEdit && <EditButtons studio={studio} />}
          {runId !== null && (
            <Anchor component={Link} to={projectPath(project.id, 'runs', runId)} size="sm">
              {t`Open the run`}
            </Anchor>
          )}
          {playbook && (
            <Button
              component={Link}
              to={projectPath(project.id, 'flows', playbook.id, 'test')}
              variant="default"
              leftSection={<FlaskConical size={14} aria-hidden />}
            >
              {t`Test`}
            </Button>
          )}
          {playbook && (
            <Button
              component={Link}
              to={projectPath(project.id, 'flows', playbook.id, 'versions')}
              variant="default"
              leftSection={<Rocket size={14} aria-hidden />}
            >
              {t`Versions`}
            </Button>
          )}
          {playbook?.may_run && asksFor.length === 0 && (
            <Button
              variant="default"
              leftSection={<Play size={14} aria-hidden />}
              disabled={studio.isChanged}
              loading={begin.isPending}
              onClick={() => begin.mutate(playbook.id)}
            >
              {t`Run`}
            </Button>
          )}
          {playbook?.may_run && asksFor.length > 0 && (
            <Button
              component={Link}
              to={projectPath(project.id, 'playbooks', playbook.id)}
              variant="default"
              leftSection={<Play size={14} aria-hidden />}
            >
              {t`Run…`}
            </Button>
          )}
          {mayEdit && (
            <Button
              leftSection={<Save size={14} aria-hidden />}
              disabled={!studio.isChanged || check.isChecking || check.check?.valid !== true}
              loading={save.isPending}
              onClick={() => store()}
            >
              {t`Save`}
            </Button>
          )}
        </>
      }
    >
      <div className={classes.desk}>
        {mayEdit && playbook === null && <NameField studio={studio} />}
        {isStale && !isMerging && (
          <Conflict
            studio={studio}
            theirs={drawingOf(playbook)}
            onKeep={() => store(playbook?.version)}
            onSettled={() => {
              setBase(playbook?.version ?? 0);
              save.reset();
            }}
          />
        )}
        {!isStale && <FormError error={save.error} />}
        <div className={classes.facts} role="status">
          {playbook !== null && <Watchers playbookId={playbook.id} isEditing={studio.isChanged} />}
          {studio.isChanged && (
            <DraftState keeping={keeping} onDiscard={() => studio.change(studio.saved)} />
          )}
          {problems > 0 && !check.isChecking && studio.graph.nodes.length > 0
            ? plural(problems, {
                one: `${problems} problem to solve before it can be saved.`,
                other: `${problems} problems to solve before it can be saved.`,
              })
            : ''}
          {runId === null && price && runPriceText(price)}
        </div>
        {playbook !== null && (
          <RunStrip
            playbookId={playbook.id}
            shown={runId}
            other={otherId}
            onShow={setRunId}
            onCompare={setOtherId}
          />
        )}
        <StudioView
          studio={studio}
          palette={palette}
          tools={tools ?? []}
          check={check}
          run={run}
          standings={standings ?? NONE}
          others={otherId === null ? undefined : others}
          price={price}
          isNew={playbook === null}
          mayEdit={mayEdit}
          isAdding={isAdding}
          onAdding={onAdding}
        />
      </div>
    </Page>
  );
}

function drawingOf(playbook: Pick<PlaybookDetail, 'source' | 'layout'> | null): Drawing {
  return {
    text: playbook?.source ?? NEW_FLOW,
    layout: readLayout(playbook?.layout ?? {}),
  };
}

const readDrawing = ({ text, layout }: Draft['drawing']): Drawing => ({
  text,
  layout: readLayout(layout),
});

/** The draft, unless all of it was saved and only the word that it was did not arrive. */
function openedDraft(playbook: PlaybookDetail | null, draft: Draft | null): Draft | null {
  return draft && isSameDrawing(readDrawing(draft.drawing), drawingOf(playbook)) ? null : draft;
}

function EditButtons({ studio }: { studio: Studio }) {
  const tidy = useMutation({
    mutationFn: () => tidied(studio),
    onSuccess: (places) =>
      studio.change({
        layout: { ...studio.layout, places: { ...studio.layout.places, ...places } },
      }),
    onError: showFailure,
  });
  return (
    <Group gap={4}>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={t`Undo`}
        disabled={!studio.canUndo}
        onClick={studio.undo}
      >
        <Undo2 size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={t`Redo`}
        disabled={!studio.canRedo}
        onClick={studio.redo}
      >
        <Redo2 size={16} aria-hidden />
      </ActionIcon>
      <Button
        variant="default"
        leftSection={<LayoutGrid size={14} aria-hidden />}
        loading={tidy.isPending}
        onClick={() => tidy.mutate()}
      >
        {t`Tidy up`}
      </Button>
    </Group>
  );
}

/** Places for the nodes of every graph, those inside nodes too. */
async function tidied({ graph, layout }: Studio): Promise<Record<string, Point>> {
  const sizes = new Map<string, Placed>();
  const note = (items: readonly Placed[]) => {
    for (const item of items) {
      sizes.set(item.node.key, item);
      for (const lane of item.lanes) note(lane.items);
    }
  };
  note(place(graph, layout).items);
  const found = await Promise.all(
    graphsWithin(graph)
      .map((inner) => ({
        nodes: inner.nodes.flatMap(({ key }) => {
          const item = sizes.get(key);
          return item ? [{ key, size: item.size }] : [];
        }),
        edges: edgesOf(inner),
      }))
      .filter(({ nodes }) => nodes.length > 0)
      .map(arrangeAside),
  );
  return Object.assign({}, ...found) as Record<string, Point>;
}

function NameField({ studio }: { studio: Studio }) {
  const name = valueAt(studio.document, ['name']);
  return (
    <TextInput
      label={t`Name`}
      className={classes.name ?? ''}
      value={typeof name === 'string' ? name : ''}
      maxLength={100}
      onChange={({ currentTarget }) => {
        const slug = currentTarget.value
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, '-')
          .replaceAll(/^[^a-z]+|-+$/g, '');
        const named = setValue(studio.text, ['name'], currentTarget.value);
        studio.change({ text: setValue(named, ['id'], (slug || 'new-flow').slice(0, 60)) }, 'name');
      }}
    />
  );
}
