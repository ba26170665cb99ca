/** The flow as a list within lists: the same to edit as the drawing, for screen readers and small screens. */
import { plural, t } from '@lingui/core/macro';
import { Plus } from 'lucide-react';
import { StateChip } from '@/components/Chip';
import { type FlowGraph, nodeTitle } from '@/flows/graph';
import type { Actions } from './canvas-actions';
import { groupKey, noteKey, triggerKey } from './canvas-keys';
import { factsOf, type Marks, triggersOf } from './drawn';
import type { Studio } from './use-studio';
import classes from './flows.module.css';

interface Props {
  graph: FlowGraph;
  /** Of the node around it; empty for the flow itself. */
  title: string;
  selected: readonly string[];
  marks: Marks;
  actions: Actions;
  /** With Ctrl or ⌘ it is chosen besides the others. */
  onSelect: (key: string, isFurther: boolean) => void;
}

const isFurther = ({ ctrlKey, metaKey }: { ctrlKey: boolean; metaKey: boolean }) =>
  ctrlKey || metaKey;

interface OutlineLine {
  key: string;
  title: string;
  told: string;
}

interface LinesProps extends Pick<Props, 'selected' | 'onSelect'> {
  label: string;
  lines: readonly OutlineLine[];
}

/** What is on the canvas besides steps: what starts the flow, notes, groups. */
function OutlineLines({ label, lines, selected, onSelect }: LinesProps) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3 className={classes.group}>{label}</h3>
      <ul className={classes.outline} aria-label={label}>
        {lines.map(({ key, title, told }) => (
          <li key={key}>
            <button
              type="button"
              className={classes.outlineItem}
              aria-pressed={selected.includes(key)}
              onClick={(event) => onSelect(key, isFurther(event))}
            >
              <strong>{title}</strong> <span>{told}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

interface ViewProps extends Omit<Props, 'graph' | 'title'> {
  studio: Studio;
}

/** Everything that is on the canvas: what starts the flow, its steps, notes and groups. */
export function OutlineView({ studio, ...props }: ViewProps) {
  const { graph, layout, document } = studio;
  const { selected, actions, onSelect } = props;
  const triggers = triggersOf(document).map((each, index) => ({
    ...{ key: triggerKey(index), title: actions.nameOf(each), told: each.name },
  }));
  const notes = layout.notes.map(({ id, text }) => ({
    key: noteKey(id),
    title: t`Note`,
    told: text,
  }));
  const groups = layout.groups.map(({ id, title, keys }) => ({
    ...{ key: groupKey(id), title, told: keys.join(', ') },
  }));
  return (
    <>
      <OutlineLines label={t`What starts it`} lines={triggers} {...{ selected, onSelect }} />
      <Outline {...props} graph={graph} title="" />
      <OutlineLines label={t`Notes`} lines={notes} {...{ selected, onSelect }} />
      <OutlineLines label={t`Groups`} lines={groups} {...{ selected, onSelect }} />
    </>
  );
}

function Outline({ graph, title, selected, marks, actions, onSelect }: Props) {
  const named = title === '' ? t`the flow` : [title, graph.name].filter(Boolean).join(', ');
  const { addInto } = actions;
  return (
    <ol className={classes.outline} aria-label={t`Steps of ${named}`}>
      {graph.nodes.map((node) => {
        const wrong = marks.problems.get(node.key)?.length ?? 0;
        const state = marks.stateOf(node.key);
        const kind = actions.nameOf(node);
        const facts = factsOf(node.key, marks);
        return (
          <li key={node.key}>
            <button
              type="button"
              className={classes.outlineItem}
              aria-pressed={selected.includes(node.key)}
              onClick={(event) => onSelect(node.key, isFurther(event))}
            >
              <strong>{nodeTitle(node)}</strong> {kind !== nodeTitle(node) && <span>{kind}</span>}
              {node.needs.length > 0 && <span>{t`after ${node.needs.join(', ')}`}</span>}
              {wrong > 0 && (
                <span className={classes.wrong}>
                  {plural(wrong, { one: `${wrong} problem`, other: `${wrong} problems` })}
                </span>
              )}
              {state !== null && <StateChip state={state} />}
              {facts !== '' && <span>{facts}</span>}
            </button>
            {node.graphs.map((inner) => (
              <Outline
                key={inner.path.join('/')}
                {...{ graph: inner, title: nodeTitle(node), selected, marks, actions, onSelect }}
              />
            ))}
          </li>
        );
      })}
      {addInto && (
        <li>
          <button
            type="button"
            className={classes.laneAdd}
            onClick={() => addInto(JSON.stringify(graph.path))}
          >
            <Plus size={13} aria-hidden /> {t`Add a step to ${named}`}
          </button>
        </li>
      )}
    </ol>
  );
}
