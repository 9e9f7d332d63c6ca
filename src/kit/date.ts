/** Whether text is a day of the Gregorian calendar as ISO 8601 writes it, `2026-11-21`; there is no 30th of February. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const at = Date.parse(text);
  // Some days that do not exist are read as such of the next month.
  return new Date(at).getUTCDate() === Number(text.slice(8));
}
