/** One node on the canvas: its title, what it is, its ports, and the graphs inside it. */
import { plural, t } from '@lingui/core/macro';
import { Handle, type NodeProps, Position } from '@xyflow/react';
import { ChevronDown, ChevronRight, Plus } from 'lucide-react';
import { memo, use } from 'react';
import { nodeTitle } from '@/flows/graph';
import { StateChip } from '@/components/Chip';
import { CanvasActions } from './canvas-actions';
import { type Box, mayFail, WAY, waysOut } from './drawn';
import classes from './flows.module.css';

export const FlowBox = memo(Drawn, isDrawnAlike);

function Drawn({ id, data, selected }: NodeProps<Box>) {
  const { node, trigger, lanes, isClosed, problems, state, facts } = data;
  const { nameOf } = use(CanvasActions);
  const kind = nameOf(node ?? trigger ?? { type: '' });
  const title = node ? nodeTitle(node) : kind;
  return (
    <div
      className={classes.box}
      data-selected={selected}
      data-wrong={problems > 0}
      data-kind={node?.type ?? 'trigger'}
      data-open={lanes.length > 0}
    >
      {node && <Handle type="target" id="in" position={Position.Left} />}
      <div className={classes.boxHead}>
        <span className={classes.boxTitle}>{title}</span>
        <span className={classes.boxType}>
          {node ? (kind === title ? '' : kind) : trigger?.name}
        </span>
      </div>
      <div className={classes.boxMarks}>
        {state !== null && <StateChip state={state} />}
        {problems > 0 && (
          <span className={classes.wrong}>
            {plural(problems, { one: `${problems} problem`, other: `${problems} problems` })}
          </span>
        )}
        {node && node.graphs.length > 0 && <Unfold id={id} isClosed={isClosed} title={title} />}
      </div>
      {facts !== '' && <span className={classes.boxFacts}>{facts}</span>}
      {lanes.map((lane) => (
        <Lane key={lane.path} lane={lane} title={title} />
      ))}
      {waysOut(node).map((port, index) => (
        <Handle
          key={port}
          type="source"
          id={`out:${port}`}
          position={Position.Right}
          style={{ top: WAY.first + index * WAY.next }}
        />
      ))}
      {mayFail(node) && (
        <Handle
          type="source"
          id="out:error"
          position={Position.Bottom}
          className={classes.errorPort ?? ''}
          title={t`After an error`}
        />
      )}
    </div>
  );
}

/** A change elsewhere makes new data for every node; one that looks the same is not drawn again. */
function isDrawnAlike(before: NodeProps<Box>, after: NodeProps<Box>): boolean {
  const [old, now] = [before.data, after.data];
  const hasLanes = old.lanes.length > 0 || now.lanes.length > 0;
  return (
    before.id === after.id &&
    before.selected === after.selected &&
    !hasLanes &&
    old.node === now.node &&
    old.trigger?.name === now.trigger?.name &&
    old.trigger?.type === now.trigger?.type &&
    old.isClosed === now.isClosed &&
    old.problems === now.problems &&
    old.state === now.state &&
    old.facts === now.facts
  );
}

function Unfold({ id, isClosed, title }: { id: string; isClosed: boolean; title: string }) {
  const { toggle } = use(CanvasActions);
  const Icon = isClosed ? ChevronRight : ChevronDown;
  return (
    <button
      type="button"
      className={`nodrag ${classes.fold ?? ''}`}
      aria-expanded={!isClosed}
      aria-label={t`Steps inside ${title}`}
      onClick={() => toggle(id)}
    >
      <Icon size={14} aria-hidden />
    </button>
  );
}

function Lane({ lane, title }: { lane: Box['data']['lanes'][number]; title: string }) {
  const { addInto } = use(CanvasActions);
  const named = lane.name === '' ? title : `${title}, ${lane.name}`;
  return (
    <div
      className={classes.lane}
      data-lane={lane.path}
      style={{ left: lane.at.x, top: lane.at.y, width: lane.width, height: lane.height }}
    >
      <span className={classes.laneName}>{lane.name}</span>
      {addInto && (
        <button
          type="button"
          className={`nodrag ${classes.laneAdd ?? ''}`}
          aria-label={t`Add a step inside ${named}`}
          onClick={() => addInto(lane.path)}
        >
          <Plus size={13} aria-hidden />
          {lane.isEmpty && t`Add a step`}
        </button>
      )}
    </div>
  );
}
