/** Markdown as elements. No HTML of the text is ever used, no address is loaded. */
import { t } from '@lingui/core/macro';
import { Anchor, Code } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment, memo, type ReactNode } from 'react';
import { CodeBlock } from '@/components/CodeBlock';
import type { Inline } from './inline-markdown';
import { type Block, blocksOf } from './markdown';
import classes from './markdown.module.css';

/** Draws plain text, such as with its figures marked; of a table, more quietly. */
export type DrawText = (text: string, isCell: boolean) => ReactNode;
const asItIs: DrawText = (text) => text;

interface Props {
  text: string;
  drawText?: DrawText;
}

export const Markdown = memo(function Markdown({ text, drawText = asItIs }: Props) {
  return (
    <div className={classes.text}>
      <Blocks blocks={blocksOf(text)} drawText={drawText} />
    </div>
  );
});

function Blocks({ blocks, drawText }: { blocks: Block[]; drawText: DrawText }) {
  return blocks.map((block, index) => <OneBlock key={index} block={block} drawText={drawText} />);
}

function OneBlock({ block, drawText }: { block: Block; drawText: DrawText }) {
  const inline = (parts: Inline[]) => <Parts parts={parts} drawText={drawText} />;
  switch (block.kind) {
    case 'paragraph':
      return <p>{inline(block.parts)}</p>;
    case 'heading': {
      // The page has its own title and sections; an answer's begin below.
      const Heading = block.level < 3 ? 'h3' : 'h4';
      return <Heading>{inline(block.parts)}</Heading>;
    }
    case 'code':
      return <CodeBlock label={block.language || t`code`} code={block.text} />;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} drawText={drawText} />
        </blockquote>
      );
    case 'list':
      return <List block={block} drawText={drawText} />;
    case 'table':
      return <Table block={block} drawText={drawText} />;
    case 'rule':
      return <hr />;
  }
}

interface Of<Kind> {
  block: Extract<Block, { kind: Kind }>;
  drawText: DrawText;
}

function List({ block: { ordered, start, items }, drawText }: Of<'list'>) {
  const inside = items.map((blocks, index) => {
    const [only] = blocks;
    const isShort = blocks.length === 1 && only?.kind === 'paragraph';
    return (
      <li key={index}>
        {isShort ? (
          <Parts parts={only.parts} drawText={drawText} />
        ) : (
          <Blocks blocks={blocks} drawText={drawText} />
        )}
      </li>
    );
  });
  return ordered ? <ol start={start}>{inside}</ol> : <ul>{inside}</ul>;
}

function Table({ block: { head, align, rows }, drawText: drawAny }: Of<'table'>) {
  const drawText: DrawText = (text) => drawAny(text, true);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.scroller} role="group" aria-label={t`Table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((parts, index) => (
              <th key={index} scope="col" data-align={align[index]}>
                <Parts parts={parts} drawText={drawText} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>
              {row.map((parts, index) => (
                <td key={index} data-align={align[index]}>
                  <Parts parts={parts} drawText={drawText} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Parts({ parts, drawText }: { parts: Inline[]; drawText: DrawText }) {
  return parts.map((part, index) => (
    <Fragment key={index}>
      <Part part={part} drawText={drawText} />
    </Fragment>
  ));
}

function Part({ part, drawText }: { part: Inline; drawText: DrawText }) {
  switch (part.kind) {
    case 'text':
      return drawText(part.text, false);
    case 'code':
      return <Code>{part.text}</Code>;
    case 'break':
      return <br />;
    case 'link':
      return <Address part={part} drawText={drawText} />;
    default: {
      const Span = { strong: 'strong', emphasis: 'em', struck: 's' }[part.kind] as 'strong';
      return (
        <Span>
          <Parts parts={part.parts} drawText={drawText} />
        </Span>
      );
    }
  }
}

interface AddressProps {
  part: Extract<Inline, { kind: 'link' }>;
  drawText: DrawText;
}

/** Where a link leads is said on hover; one that leads away says to where beside its words. */
function Address({ part: { address, parts }, drawText }: AddressProps) {
  const inside = <Parts parts={parts} drawText={drawText} />;
  if (address.startsWith('/')) {
    return (
      <Anchor component={Link} to={address} inherit>
        {inside}
      </Anchor>
    );
  }
  const host = hostOf(address);
  const isSaid = host === null || (parts[0]?.kind === 'text' && parts[0].text.includes(host));
  return (
    <>
      <Anchor
        href={address}
        target="_blank"
        rel="noopener noreferrer nofollow"
        title={address}
        inherit
      >
        {inside}
      </Anchor>
      {!isSaid && <span className={classes.host}> ({host})</span>}
    </>
  );
}

function hostOf(address: string): string | null {
  try {
    const { host } = new URL(address);
    return host === '' ? null : host;
  } catch {
    return null;
  }
}
