/** The shape of a profile and of correlations, as the server computes them. */

export interface ColumnProfile {
  name: string;
  type: string;
  kind: string;
  rows: number;
  filled: number;
  nulls: number;
  null_share: number;
  distinct: number;
  distinct_exact: boolean;
  unique: boolean | null;
  constant: boolean;
  minimum: string | null;
  maximum: string | null;
  top: { value: string; rows: number }[];
  number: { mean: number | null; deviation: number | null } | null;
  quantiles: { share: number; text: string }[];
  histogram: { edges: number[]; labels: string[]; counts: number[] } | null;
  outliers: { rows: number; lower: string; upper: string } | null;
  text: { patterns: { shape: string; rows: number; share: number }[] } | null;
  dates: { first: string; last: string; missing: number; unit: string } | null;
  meanings: { kind: string; label: string; share: number; evidence: string }[];
  pii: { kind: string; label: string; share: number; confidence: string; check: string }[];
  masked: boolean;
  notes: string[];
}

export interface Profile {
  rows: number;
  profiled_rows: number;
  sampled: boolean;
  duplicate_rows: number | null;
  columns: ColumnProfile[];
  keys: { columns: string[]; score: number; why: string }[];
  alike: { first: string; second: string; relation: string; share: number }[];
  missing: { complete_rows: number; combinations: { columns: string[]; rows: number }[] };
  notes: string[];
}

interface Association {
  first: string;
  second: string;
  measure: string;
  strength: number;
  direction: string | null;
  rows: number;
  summary: string;
  warnings: string[];
}

export interface Correlations {
  associations: Association[];
  pairs_tried: number;
  warnings: string[];
}
