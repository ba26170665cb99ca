/** What a file that a run made is, and which of several a person came for. */
import { t } from '@lingui/core/macro';
import {
  ChartColumn,
  File,
  FileSpreadsheet,
  FileText,
  Image,
  type LucideIcon,
  Table2,
} from 'lucide-react';
import type { Artifact } from '@/api/run-types';

export type FileKind =
  'page' | 'document' | 'workbook' | 'picture' | 'drawing' | 'chart' | 'table' | 'text' | 'other';

/** In the order in which people look for them: what is written for readers comes first. */
export const KINDS: Record<FileKind, { word: string; icon: LucideIcon }> = {
  page: { word: t`Report`, icon: FileText },
  document: { word: t`Document`, icon: FileText },
  workbook: { word: t`Workbook`, icon: FileSpreadsheet },
  chart: { word: t`Chart`, icon: ChartColumn },
  picture: { word: t`Picture`, icon: Image },
  drawing: { word: t`Drawing`, icon: Image },
  table: { word: t`Table`, icon: Table2 },
  text: { word: t`Text`, icon: FileText },
  other: { word: t`File`, icon: File },
};
const ORDER = Object.keys(KINDS) as FileKind[];

const BY_ENDING: Record<string, FileKind> = {
  html: 'page',
  htm: 'page',
  svg: 'drawing',
  pdf: 'document',
  docx: 'document',
  xlsx: 'workbook',
  csv: 'table',
  tsv: 'table',
  md: 'text',
  txt: 'text',
  json: 'text',
  yaml: 'text',
  yml: 'text',
  sql: 'text',
  log: 'text',
};

export function endingOf(name: string): string {
  return /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

export function kindOf({ name, media_type: type }: Pick<Artifact, 'name' | 'media_type'>) {
  if (type.startsWith('image/') && endingOf(name) !== 'svg') return 'picture';
  if (type.includes('vega') || /\.vl\.json$|vega.*\.json$/i.test(name)) return 'chart';
  return BY_ENDING[endingOf(name)] ?? (type.startsWith('text/') ? 'text' : 'other');
}

/** Reports before tables before texts; of the same kind, what was made last comes first. */
export function byInterest(artifacts: readonly Artifact[]): Artifact[] {
  const unique = new Map(artifacts.map((each) => [`${each.digest}/${each.name}`, each]));
  return [...unique.values()]
    .reverse()
    .sort((one, other) => ORDER.indexOf(kindOf(one)) - ORDER.indexOf(kindOf(other)));
}

export interface Shown {
  artifact: Artifact;
  /** The same as PDF. */
  print: Artifact | null;
}

/** A report and its PDF are one thing to a reader. */
export function withPrints(artifacts: readonly Artifact[]): Shown[] {
  const ordered = byInterest(artifacts);
  const printOf = ({ name }: Artifact) =>
    ordered.find((each) => each.name === name.replace(/\.html?$/i, '.pdf')) ?? null;
  const shown = ordered.map((artifact) => ({
    artifact,
    print: kindOf(artifact) === 'page' ? printOf(artifact) : null,
  }));
  const prints = new Set(shown.map(({ print }) => print));
  return shown.filter(({ artifact }) => !prints.has(artifact));
}
