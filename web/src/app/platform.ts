/** What the keyboard of this machine calls its command key. */
const isApple = /Mac|iPhone|iPad/.test(globalThis.navigator.userAgent);

export const MODIFIER = isApple ? '⌘' : 'Ctrl';
