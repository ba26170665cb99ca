/** What is typed between Ctrl-K and the moment the palette is loaded, so that no letter is lost. */
let typed = '';

function note(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Backspace') typed = typed.slice(0, -1);
  else if (event.key.length === 1) typed += event.key;
  else return;
  event.preventDefault();
}

export function listenEarly(): void {
  typed = '';
  globalThis.addEventListener('keydown', note);
}

/** Ends the listening and gives what was typed. */
export function takeEarly(): string {
  globalThis.removeEventListener('keydown', note);
  return typed;
}
