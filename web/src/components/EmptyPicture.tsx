/** Small drawings of what an empty page will show. */
import type { ReactNode } from 'react';

export type Picture = 'table' | 'flow' | 'cards' | 'list' | 'calendar' | 'page' | 'inbox' | 'chart';

const LINE = 'var(--steward-line)';
const QUIET = 'var(--steward-code)';
const STRONG = 'var(--mantine-primary-color-filled)';

function Bar({ x, y, w, h = 5, strong }: Record<'x' | 'y' | 'w', number> & BarLook) {
  return <rect x={x} y={y} width={w} height={h} rx="2.5" fill={strong ? STRONG : LINE} />;
}

interface BarLook {
  h?: number;
  strong?: boolean;
}

const sheet = <rect x="20.5" y="6.5" width="119" height="83" rx="6" fill={QUIET} stroke={LINE} />;
const rows = [0, 1, 2, 3];

function node(x: number, y: number, strong = false): ReactNode {
  return (
    <>
      <rect
        x={x}
        y={y}
        width="38"
        height="22"
        rx="5"
        fill={QUIET}
        stroke={strong ? STRONG : LINE}
      />
      <Bar x={x + 8} y={y + 9} w={22} strong={strong} />
    </>
  );
}

const PICTURES: Record<Picture, ReactNode> = {
  table: (
    <>
      {sheet}
      <path d="M21 26H139M60 7V89M100 7V89" stroke={LINE} />
      {[30, 70, 110].map((x) => (
        <Bar key={x} x={x} y={14} w={20} strong />
      ))}
      {rows.flatMap((row) =>
        [28, 68, 108].map((x) => <Bar key={`${row} ${x}`} x={x} y={34 + row * 14} w={24} />),
      )}
    </>
  ),
  flow: (
    <>
      <path
        d="M44 48H62M100 40C110 30 110 26 118 26M100 56C110 66 110 70 118 70"
        stroke={LINE}
        fill="none"
      />
      {node(6, 37)}
      {node(62, 37, true)}
      {node(116, 15)}
      {node(116, 59)}
    </>
  ),
  cards: (
    <>
      {[12, 62, 112].map((x, index) => (
        <g key={x}>
          <rect x={x + 0.5} y="16.5" width="38" height="62" rx="5" fill={QUIET} stroke={LINE} />
          <Bar x={x + 7} y={25} w={20} strong={index === 0} />
          <Bar x={x + 7} y={36} w={24} />
          <Bar x={x + 7} y={45} w={18} />
          <Bar x={x + 7} y={64} w={14} h={8} strong={index === 0} />
        </g>
      ))}
    </>
  ),
  list: (
    <>
      {sheet}
      {rows.map((row) => (
        <g key={row}>
          <circle cx="34" cy={20 + row * 19} r="5" fill={row === 0 ? STRONG : LINE} />
          <Bar x={46} y={17 + row * 19} w={row % 2 === 0 ? 54 : 42} />
          <Bar x={116} y={17 + row * 19} w={14} />
        </g>
      ))}
    </>
  ),
  calendar: (
    <>
      {sheet}
      <path d="M21 24H139" stroke={LINE} />
      <Bar x={30} y={13} w={40} strong />
      {rows
        .slice(0, 3)
        .flatMap((row) =>
          [0, 1, 2, 3, 4, 5, 6].map((day) => (
            <rect
              key={`${row} ${day}`}
              x={28 + day * 15}
              y={32 + row * 18}
              width="11"
              height="11"
              rx="3"
              fill={day === 0 ? STRONG : LINE}
            />
          )),
        )}
    </>
  ),
  page: (
    <>
      <rect x="45.5" y="4.5" width="69" height="87" rx="5" fill={QUIET} stroke={LINE} />
      <Bar x={55} y={14} w={34} strong />
      {rows.map((row) => (
        <Bar key={row} x={55} y={27 + row * 9} w={row === 3 ? 30 : 50} />
      ))}
      <path d="M56 82V72M66 82V66M76 82V76M86 82V62M96 82V70" stroke={STRONG} strokeWidth="5" />
    </>
  ),
  inbox: (
    <>
      <rect x="14.5" y="18.5" width="131" height="58" rx="6" fill={QUIET} stroke={LINE} />
      <Bar x={26} y={29} w={54} strong />
      <Bar x={26} y={42} w={86} />
      <Bar x={26} y={52} w={70} />
      <rect x="84" y="60" width="24" height="10" rx="4" fill={STRONG} />
      <rect x="112.5" y="60.5" width="23" height="9" rx="4" fill="none" stroke={LINE} />
    </>
  ),
  chart: (
    <>
      <path d="M28 8V84H140" stroke={LINE} fill="none" />
      <path d="M36 70L58 52L80 60L104 30L132 18" stroke={STRONG} strokeWidth="3" fill="none" />
    </>
  ),
};

export default function EmptyPicture({ picture }: { picture: Picture }) {
  return (
    <svg width="160" height="96" viewBox="0 0 160 96" aria-hidden>
      {PICTURES[picture]}
    </svg>
  );
}
