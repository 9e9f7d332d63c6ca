/**
 * A field of RFC 4180. Spreadsheets run a text that begins with one of these signs as a formula, so it gets an apostrophe before it: agents
 * and people choose these texts. Semicolons and tabs are quoted too, since some programs take them for separators. Numbers stay numbers.
 */
function csvField(value: string | number | null | undefined): string {
  if (typeof value !== "string") return value === null || value === undefined ? "" : String(value);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A record, with its line break. */
export const csvLine = (fields: readonly (string | number | null | undefined)[]): string =>
  `${fields.map(csvField).join(",")}\r\n`;
