import { expect, it } from "vitest";
import { parseEntries } from "../../../src/formats/errors/parse.ts";

const isOpen = (body: string) =>
  parseEntries(`## 2026-11-20 A\n\n${body}\n\n## 2026-11-19 B\n`).map(({ open }) => open);

it.each([
  ["Status: open"],
  ["status: OPEN"],
  ["STATUS : Unresolved"],
  ["**Status:** open"],
  ["**Status**: open"],
  ["**Status: open**"],
  ["**Status** open"],
  ["__Status:__ pending"],
  ["*Status:* in progress"],
  ["Status: **open**"],
  ["Status: `in-progress`"],
  ["Status: in_progress"],
  ["- Status: pending"],
  ["- **Status:** in progress, see below"],
  ["* [ ] Status: open"],
  ["1. Status: open"],
  ["> Status: open"],
  ["Status – open"],
  ["Status = open"],
  ["Status: 🔴 open"],
  ["🚧 Status: open"],
  ["Status: [open](https://example.com)"],
  ["Status (2026-11-20): still open"],
  ["Status: resolved → open"],
  ["Status: ~~resolved~~ open"],
  ["| Status | open |"],
  ["| **Status** | In Progress |"],
  ["| Field | Value |\n|---|---|\n| Severity | high |\n| Status | open |"],
  ["| Severity | Status |\n|:--|--:|\n| high | open |"],
  ["Severity: high\nStatus: open\nFix: none"],
  ["**Root cause:** x  \n**Status:** open  \n**Fix:** y"],
  ["### Status\n\nOpen, waiting for the vendor"],
  ["### Status: open"],
  ["**Status:**\nopen"],
  ["**Status:**\n\nopen"],
  ["#### Details\n\n##### More\n\nStatus: open"],
  ["Last words\nStatus: open\n---"],
])("takes %j for open", (body) => {
  expect(isOpen(body)).toEqual([true, false]);
});

it.each([
  ["Status: resolved, was open"],
  ["Status: resolved (open until Friday)"],
  ["Status: not open"],
  ["Status: closed"],
  ["Status: opened too late, resolved"],
  ["Status: open-sourced"],
  ["Status: ~~open~~ resolved"],
  ["Status: open → resolved"],
  ["**Status:** ✅ fixed"],
  ["Status:"],
  ["Status code: open"],
  ["The HTTP status: open"],
  ["HTTP status: pending"],
  ["statuses: open"],
  ["Status open tickets are listed elsewhere"],
  ["| Severity | Status |\n|---|---|\n| open | resolved |"],
  ["| Old status | open |"],
  ["```\nStatus: open\n```"],
  ["    Status: open"],
  ["<!-- Status: open -->"],
  ["- log\n  ```\n  Status: open\n  ```"],
])("does not take %j for open", (body) => {
  expect(isOpen(body)).toEqual([false, false]);
});

it("does not look for the status behind the entry's end", () => {
  expect(parseEntries("## 2026-11-20 A\n\n# Archive\n\nStatus: open\n").map(({ open }) => open)).toEqual([false]);
  expect(parseEntries("## 2026-11-20 A\n\n## Notes\n\nStatus: open\n").map(({ open }) => open)).toEqual([false]);
});
