import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { render } from '@testing-library/react';
import { expect, test } from 'vitest';

const files = (count: number) => plural(count, { one: `${count} file`, other: `${count} files` });

test('English stands in the code', () => {
  const name = 'Invoices';
  expect(t`Delete “${name}”?`).toBe('Delete “Invoices”?');
  expect([files(0), files(1), files(2)]).toEqual(['0 files', '1 file', '2 files']);
  expect(document.documentElement.lang).toBe('en');
});

test('values are shown as they are', () => {
  const path = String.raw`C:\x41\u0042 <b>{0}</b>`;
  expect(t`Path: ${path}`).toBe(`Path: ${path}`);
  const { container } = render(
    <Trans>
      Path: <i>{path}</i>
    </Trans>,
  );
  expect(container.textContent).toBe(`Path: ${path}`);
  expect(container.querySelector('b')).toBeNull();
});
