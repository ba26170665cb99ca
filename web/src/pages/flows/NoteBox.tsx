/** Words on the canvas, and frames around steps: part of the drawing, not of the flow. */
import { t } from '@lingui/core/macro';
import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';
import type { GroupFrame as Frame, NoteBox as Note } from './drawn';
import classes from './flows.module.css';

export const NoteBox = memo(function NoteBox({ data, selected }: NodeProps<Note>) {
  return (
    <div className={classes.note} data-selected={selected}>
      {data.text === '' ? t`Empty note` : data.text}
    </div>
  );
});

export const GroupFrame = memo(function GroupFrame({ data, selected }: NodeProps<Frame>) {
  return (
    <div className={classes.frame} data-selected={selected}>
      <span className={classes.frameTitle}>{data.title}</span>
    </div>
  );
});
