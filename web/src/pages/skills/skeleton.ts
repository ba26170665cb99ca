/** The SKILL.md that a new skill begins with. */

export function skeleton(name: string, description: string): string {
  // In quotes, so that a colon or a hash in it stays part of the text.
  const text = description.trim().replace(/\s+/g, ' ').replaceAll("'", "''");
  return `---\nname: ${name}\ndescription: '${text}'\n---\n# ${name}\n\nSay here, step by step, how the work is done.\n`;
}
