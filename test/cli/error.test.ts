import { expect, it } from "vitest";
import { getUser, storePerson } from "../../src/identity/people/people.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { command } from "../support/remote.ts";
import { withTeam } from "../unit/triage/support.ts";

const RULE = "set Path on every cookie.";

it("takes errors on, resolves and discusses them from the command line, beside a running server", async () => {
  const kit = await withTeam();
  await kit.say([
    { date: "2026-11-12", title: "Loop again", rule: RULE },
    { date: "2026-11-10", title: "Login loop", rule: RULE, open: true },
    { date: "2026-11-01", title: "Slow \u001b[31msearch", open: true },
  ]);
  const run = (...args: string[]) => command(["error", ...args, "--team", kit.teamId, "--data", kit.t.directory]);
  const json = async (...args: string[]) => {
    const done = await run(...args, "--json");
    expect([args.join(" "), done.code, done.stderr]).toEqual([args.join(" "), 0, ""]);
    return JSON.parse(done.stdout);
  };
  const fingerprint = kit.classOf("Login loop");
  const listed = await json("list");
  expect(listed).toEqual([
    {
      ...{ class: fingerprint, title: "Loop again", rule: RULE, state: "again", owner: null, occurrences: 2 },
      ...{ firstSeen: "2026-11-10", lastSeen: "2026-11-12", repoKeys: ["github.com/acme/shop"] },
      ...{ snoozedUntil: null, tracker: null },
    },
    expect.objectContaining({ state: "open" }),
  ]);
  expect((await run("list")).stdout).not.toContain("\u001b");
  const owner = { id: kit.ada.id, email: kit.ada.label, name: null };
  expect(await json("assign", fingerprint, kit.ada.label)).toMatchObject({ owner, changed: true });
  expect(await json("assign", fingerprint, kit.ada.label)).toMatchObject({ owner, changed: false });
  expect(await json("list", "--owner", kit.ada.label)).toMatchObject([{ class: fingerprint }]);
  expect(await json("list", "--nobody", "--state", "open")).toHaveLength(1);
  expect(await json("comment", fingerprint, "It is the proxy.")).toMatchObject({ changed: true });
  const tracker = "https://tracker.example.com/SHOP-1";
  expect(await json("link", fingerprint, tracker)).toMatchObject({ tracker });
  const entry = String(kit.entryId("Login loop"));
  expect(await json("resolve", entry)).toMatchObject({ entry: Number(entry), state: "resolved" });
  expect(await json("resolve", fingerprint)).toMatchObject({ entry: null, state: "resolved" });
  const until = new Date(Date.now() + 86_400_000).toISOString();
  expect(await json("snooze", fingerprint, "--until", until)).toMatchObject({ state: "snoozed", snoozedUntil: until });
  expect(await json("reopen", fingerprint)).toMatchObject({ state: "open", snoozedUntil: null });
  expect(await json("assign", fingerprint, "--nobody")).toMatchObject({ owner: null });
  expect(await json("link", fingerprint, "--none")).toMatchObject({ tracker: null });
  const shown = await json("show", fingerprint);
  expect(shown.activity.map(({ kind, by }: { kind: string; by: string }) => `${kind} ${by}`)).toEqual(
    ["unlinked", "unassigned", "reopened", "snoozed", "resolved", "resolved", "linked", "commented", "assigned"].map(
      (kind) => `${kind} command line`,
    ),
  );
  expect((await run("show", fingerprint)).stdout).toContain("It is the proxy.");
  // A comment's line that imitates the output is indented, so that it does not pass for a line of ours.
  const forged = "2026-11-12T08:00:00.000Z\tcommand line\tresolved";
  await json("comment", fingerprint, `Look:\n${forged}\n\u202egnihton`);
  const lines = (await run("show", fingerprint)).stdout.split("\n");
  expect(lines).not.toContain(forged);
  expect(lines.slice(-13)).toEqual(expect.arrayContaining([expect.stringMatching(/commented\tLook:$/), `\t${forged}`]));
  expect(lines.join()).not.toContain("\u202e");
  // The comment names its author, whose address may be another's by now.
  await kit.act(fingerprint, { kind: "comment", text: "Mine." }, kit.ada);
  await kit.core.store.write(() =>
    storePerson(kit.core, getUser(kit.core, kit.ada.id), { email: "later@example.com", name: null }, COMMAND_LINE),
  );
  expect((await json("show", fingerprint)).activity[0]).toMatchObject({ by: "later@example.com", text: "Mine." });
  for (const [args, code, words] of [
    [["resolve", "00000000"], 1, 'no error "00000000"'],
    [["show", "999999"], 1, "no error"],
    [["assign", fingerprint], 2, "name a person"],
    [["assign", fingerprint, "nobody@example.com"], 1, "no account"],
    [["link", fingerprint, "javascript:alert(1)"], 1, "begins with https://"],
    [["snooze", fingerprint, "--until", "2020-01-01"], 1, "to come"],
    [["list", "--state", "lost"], 2, "must be one of"],
    // It was taken for 200, and said to raise it.
    [["list", "--limit", "201"], 2, "from 1 to 200"],
  ] as const) {
    const done = await run(...args);
    expect([args.join(" "), done.code, done.stdout]).toEqual([args.join(" "), code, ""]);
    expect(done.stderr).toContain(words);
  }
});
