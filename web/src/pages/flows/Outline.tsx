/** The flow as a list within lists: the same to edit as the drawing, for screen readers and small screens. */
import { Plus } from 'lucide-react';
import { StateChip } from '@/components/Chip';
import { type FlowGraph, nodeTitle } from '@/flows/graph';
import type { Actions } from './canvas-actions';
import type { Marks } from './drawn';
import classes from './flows.module.css';

interface Props {
  graph: FlowGraph;
  /** Of the node around it; empty for the flow itself. */
  title: string;
  selected: readonly string[];
  marks: Marks;
  actions: Actions;
  onSelect: (key: string) => void;
}

export function Outline({ graph, title, selected, marks, actions, onSelect }: Props) {
  const named = title === '' ? 'the flow' : [title, graph.name].filter(Boolean).join(', ');
  const { addInto } = actions;
  return (
    <ol className={classes.outline} aria-label={`Steps of ${named}`}>
      {graph.nodes.map((node) => {
        const wrong = marks.problems.get(node.key)?.length ?? 0;
        const state = marks.stateOf(node.key);
        return (
          <li key={node.key}>
            <button
              type="button"
              className={classes.outlineItem}
              aria-pressed={selected.includes(node.key)}
              onClick={() => onSelect(node.key)}
            >
              <strong>{nodeTitle(node)}</strong> <span>{actions.nameOf(node)}</span>
              {node.needs.length > 0 && <span>after {node.needs.join(', ')}</span>}
              {wrong > 0 && (
                <span className={classes.wrong}>
                  {wrong} {wrong === 1 ? 'problem' : 'problems'}
                </span>
              )}
              {state !== null && <StateChip state={state} />}
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
            <Plus size={13} aria-hidden /> Add a step to {named}
          </button>
        </li>
      )}
    </ol>
  );
}
