/** What is drawn, by its key: nodes of the flow, triggers, notes and groups share one canvas. */
export const triggerKey = (index: number) => `trigger:${index}`;
export const noteKey = (id: string) => `note:${id}`;
export const groupKey = (id: string) => `group:${id}`;

const idsIn = (keys: readonly string[], kind: string) =>
  keys.filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length));

export const triggersIn = (keys: readonly string[]) => idsIn(keys, 'trigger:').map(Number);
export const notesIn = (keys: readonly string[]) => idsIn(keys, 'note:');
export const groupsIn = (keys: readonly string[]) => idsIn(keys, 'group:');
export const nodesIn = (keys: readonly string[]) => keys.filter((key) => !key.includes(':'));
