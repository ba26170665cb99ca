import { describe, expect, it } from 'vitest';
import { byInterest, kindOf, withPrints } from '@/pages/run/files/kinds';
import { firstCells, firstParagraphs } from '@/pages/run/files/office';
import { firstRows, separatorOf } from '@/pages/run/files/separated';

const file = (name: string, media_type = 'application/octet-stream') => ({
  name,
  media_type,
  digest: name,
  size: 10,
});

/** A zip file with stored parts, as small as it can be. */
function zip(parts: Record<string, string>): ArrayBuffer {
  const bytes: number[] = [];
  const directory: number[] = [];
  const u16 = (value: number) => [value & 255, (value >> 8) & 255];
  const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];
  for (const [name, text] of Object.entries(parts)) {
    const encode = (each: string) => [...new TextEncoder().encode(each)];
    const [title, body] = [encode(name), encode(text)];
    const sizes = [...u32(0), ...u32(body.length), ...u32(body.length), ...u16(title.length)];
    const offset = bytes.length;
    bytes.push(
      ...u32(0x04034b50),
      ...u16(20),
      ...u16(0),
      ...u16(0),
      ...u32(0),
      ...sizes,
      ...u16(0),
    );
    bytes.push(...title, ...body);
    directory.push(...u32(0x02014b50), ...u16(20), ...u16(20), ...u16(0), ...u16(0), ...u32(0));
    directory.push(...sizes, ...u16(0), ...u16(0), ...u16(0), ...u16(0), ...u32(0), ...u32(offset));
    directory.push(...title);
  }
  const count = Object.keys(parts).length;
  const end = [...u32(0x06054b50), ...u32(0), ...u16(count), ...u16(count)];
  end.push(...u32(directory.length), ...u32(bytes.length), ...u16(0));
  return new Uint8Array([...bytes, ...directory, ...end]).buffer;
}

describe('files of a run', () => {
  it('begin with the one a person came for', () => {
    const made = [
      file('rows.csv', 'text/csv'),
      file('chart.png', 'image/png'),
      file('draft.html', 'text/html'),
      file('report.html', 'text/html'),
      file('book.xlsx'),
      file('rows.csv', 'text/csv'),
    ];
    expect(byInterest(made).map(({ name }) => name)).toEqual([
      'report.html',
      'draft.html',
      'book.xlsx',
      'chart.png',
      'rows.csv',
    ]);
    expect(kindOf(file('sales.vl.json', 'application/json'))).toBe('chart');
    expect(kindOf(file('thing.bin'))).toBe('other');
  });

  it('show the first rows, also where cells hold separators and line breaks', () => {
    const text = 'name;note\n"Ada; Countess";"said ""yes""\nthen left"\nBen;x\nCy;y\n';
    expect(separatorOf(text)).toBe(';');
    expect(firstRows(text, ';', 3)).toEqual([
      ['name', 'note'],
      ['Ada; Countess', 'said "yes"\nthen left'],
      ['Ben', 'x'],
    ]);
    expect(firstRows('a,b', ',', 5)).toEqual([['a', 'b']]);
  });

  it('show the first cells of a workbook and the beginning of a document', async () => {
    const sheet =
      '<worksheet xmlns="x"><sheetData><row><c r="A1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Due</t></is></c></row>' +
      '<row><c r="B2"><v>12.5</v></c></row></sheetData></worksheet>';
    const shared =
      '<sst xmlns="x"><si><t>no</t></si><si><r><t>Custo</t></r><r><t>mer</t></r></si></sst>';
    const book = zip({ 'xl/worksheets/sheet1.xml': sheet, 'xl/sharedStrings.xml': shared });
    expect(await firstCells(book, 5, 3)).toEqual([
      ['Customer', '', 'Due'],
      ['', '12.5', ''],
    ]);
    const words =
      '<w:document xmlns:w="x"><w:p><w:r><w:t>Unpaid </w:t></w:r><w:r><w:t>invoices</w:t></w:r></w:p><w:p/></w:document>';
    expect(await firstParagraphs(zip({ 'word/document.xml': words }), 5)).toEqual([
      'Unpaid invoices',
    ]);
    await expect(firstCells(new ArrayBuffer(30), 1, 1)).rejects.toThrow('not a zip file');
  });
});

describe('a report and its PDF', () => {
  it('are one card, and a PDF of its own stays', () => {
    const files = ['a.html', 'a.pdf', 'b.pdf', 'c.svg'].map((name) => file(name));
    const names = withPrints(files).map(({ artifact, print }) => [artifact.name, print?.name]);
    expect(names).toEqual([
      ['a.html', 'a.pdf'],
      ['b.pdf', undefined],
      ['c.svg', undefined],
    ]);
  });
});
