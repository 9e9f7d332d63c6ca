import fc from "fast-check";

/** Any character but half of one. fast-check has the same as `binary`, which takes more than a second of a core to be made. */
const character = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((i) => String.fromCodePoint(i < 0xd800 ? i : i + 0x800));

/** Any text that can be written in UTF-8. */
export const anyText = (limits: { maxLength?: number } = {}) => fc.string({ unit: character, ...limits });
