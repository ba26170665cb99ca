import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepFocus } from '@/app/keep-focus';

function page(html: string): (id: string) => HTMLElement {
  document.body.innerHTML = html;
  return (id) => {
    const found = document.getElementById(id);
    if (!found) throw new Error(`The page has no ${id}.`);
    return found;
  };
}

describe('keepFocus', () => {
  let stop: () => void;
  beforeEach(() => {
    stop = keepFocus();
  });
  afterEach(() => stop());

  it('goes to what held the element that was removed', async () => {
    const get = page('<main><ul><li id="row"><button id="go">Go</button></li></ul></main>');
    get('go').focus();
    get('go').remove();
    await vi.waitFor(() => expect(document.activeElement).toBe(get('row')));
  });

  it('goes back to what opened a dialog', async () => {
    const get = page(
      '<button id="open"></button><div id="d" role="dialog"><button id="in"></button></div>',
    );
    get('open').focus();
    get('in').focus();
    get('d').remove();
    await vi.waitFor(() => expect(document.activeElement).toBe(get('open')));
  });

  it('leaves the focus alone after a click beside everything', async () => {
    const get = page('<main><p id="p"></p><button id="go">Go</button></main>');
    get('go').focus();
    get('p').dispatchEvent(new Event('pointerdown', { bubbles: true }));
    get('go').remove();
    await new Promise((done) => setTimeout(done, 100));
    expect(document.activeElement).toBe(document.body);
  });
});
