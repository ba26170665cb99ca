/** Copies text, also where the page is served over plain HTTP and the clipboard API is missing. */

// Typed as always present, yet absent outside secure contexts.
const clipboard = () => navigator.clipboard as Clipboard | undefined;

export async function copyText(text: string): Promise<boolean> {
  try {
    const api = clipboard();
    if (api) {
      await api.writeText(text);
      return true;
    }
  } catch {
    // Permission refused: the old way may still work.
  }
  return copyThroughSelection(text);
}

function copyThroughSelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.setAttribute('readonly', '');
  field.style.position = 'fixed';
  field.style.opacity = '0';
  // Inside the open dialog if there is one: its focus trap would take the focus back from outside.
  (document.activeElement?.closest('[role="dialog"]') ?? document.body).append(field);
  field.select();
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way without HTTPS
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
  }
}
