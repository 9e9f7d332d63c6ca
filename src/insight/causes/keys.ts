/** What tells the entries of one repository apart, as text for maps. */
export function entryText(entry: {
  readonly path: string;
  readonly heading: string;
  readonly ordinal: number;
}): string {
  return `${entry.ordinal}\n${entry.path}\n${entry.heading}`;
}
