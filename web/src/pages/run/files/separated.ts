/** The first rows of a text with separated values; quoted cells may hold separators and line breaks. */
export function firstRows(text: string, separator: string, rows: number): string[][] {
  const found: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = '';
  };
  for (let at = 0; at < text.length && found.length < rows; at += 1) {
    const character = text.charAt(at);
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) endCell();
    else if (character === '\n') {
      endCell();
      found.push(row);
      row = [];
    } else if (character !== '\r') cell += character;
  }
  if (found.length < rows && (cell !== '' || row.length > 0)) {
    endCell();
    found.push(row);
  }
  return found;
}

/** What separates the cells of the first line. */
export function separatorOf(text: string): string {
  const line = text.slice(0, Math.max(0, text.indexOf('\n')) || text.length);
  const counts = [',', ';', '\t', '|'].map((each) => [each, line.split(each).length] as const);
  return counts.reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}
