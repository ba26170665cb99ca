/** The beginning of a workbook or a document, read in the browser: both are zipped XML. */
import { t } from '@lingui/core/macro';

/** A part that unpacks to more is not shown. */
const LARGEST_PART = 8_000_000;
const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

interface Entry {
  method: number;
  packed: number;
  size: number;
  offset: number;
}

/** The directory of a zip file, from its end. */
function entriesOf(view: DataView): Map<string, Entry> {
  let end = view.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== END_OF_DIRECTORY) end -= 1;
  if (end < 0) throw new Error(t`This is not a zip file.`);
  const found = new Map<string, Entry>();
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (view.getUint32(at, true) !== DIRECTORY_ENTRY) throw new Error(t`The file is damaged.`);
    const nameLength = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(
      new Uint8Array(view.buffer, view.byteOffset + at + 46, nameLength),
    );
    found.set(name, {
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    });
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return found;
}

async function unpack(view: DataView, { method, packed, size, offset }: Entry): Promise<string> {
  if (size > LARGEST_PART) throw new Error(t`The file is too large to show.`);
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  const bytes = new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset + start, packed);
  if (method === 0) return new TextDecoder().decode(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const decoder = new TextDecoder();
  let text = '';
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    // What the directory says of the size may be wrong.
    if (text.length > LARGEST_PART) {
      await reader.cancel();
      throw new Error(t`The file is too large to show.`);
    }
  }
}

function opener(file: ArrayBuffer) {
  const view = new DataView(file);
  const entries = entriesOf(view);
  return async (name: string): Promise<Document | null> => {
    const entry = entries.get(name);
    if (entry === undefined) return null;
    return new DOMParser().parseFromString(await unpack(view, entry), 'application/xml');
  };
}

const tags = (of: Document | Element, name: string) => [...of.getElementsByTagNameNS('*', name)];
const textOf = (of: Document | Element, name: string) =>
  tags(of, name)
    .map(({ textContent }) => textContent)
    .join('');

/** "B7" is in the second column. */
function columnOf(place: string): number {
  let number = 0;
  for (const letter of /^[A-Z]+/.exec(place)?.[0] ?? 'A')
    number = number * 26 + letter.charCodeAt(0) - 64;
  return number - 1;
}

/** The first cells of the first sheet, as text. */
export async function firstCells(file: ArrayBuffer, rows: number, columns: number) {
  const open = opener(file);
  const sheet = await open('xl/worksheets/sheet1.xml');
  if (sheet === null) throw new Error(t`The workbook has no sheet.`);
  const shared = await open('xl/sharedStrings.xml');
  const words = shared === null ? [] : tags(shared, 'si').map((each) => textOf(each, 't'));
  return tags(sheet, 'row')
    .slice(0, rows)
    .map((row) => {
      const cells = Array.from({ length: columns }, () => '');
      for (const cell of tags(row, 'c')) {
        const column = columnOf(cell.getAttribute('r') ?? 'A');
        if (column >= columns) continue;
        const value = textOf(cell, 'v');
        const type = cell.getAttribute('t');
        cells[column] =
          type === 's'
            ? (words[Number(value)] ?? '')
            : type === 'inlineStr'
              ? textOf(cell, 't')
              : value;
      }
      return cells;
    });
}

/** The first paragraphs of a document that say something. */
export async function firstParagraphs(file: ArrayBuffer, count: number): Promise<string[]> {
  const document = await opener(file)('word/document.xml');
  if (document === null) throw new Error(t`The document has no text.`);
  return tags(document, 'p')
    .map((each) => textOf(each, 't'))
    .filter((text) => text.trim() !== '')
    .slice(0, count);
}
