/** The name proposed for a dataset. */

const LONGEST = 200;

/** `Customers 2026.csv.gz` becomes `Customers 2026`; what a name may not hold is replaced. */
export function datasetName(fileName: string): string {
  const stem = fileName.replace(/(\.[a-z0-9]{1,8}){1,2}$/i, '');
  // eslint-disable-next-line no-control-regex
  const clean = stem.replaceAll(/[\u0000-\u001f\u007f/\\]/g, '_').trim();
  return (clean || 'data').slice(0, LONGEST);
}
