import { expect, it } from "vitest";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { saveView } from "../../src/identity/saved-views/saved-views.ts";
import { setBudget } from "../../src/insight/budgets/budgets.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { ask, fill, guarded, handles, pathOf, type Somebody, somebody } from "../support/every-page.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";

/** That nobody learns what another team has: whatever is named, the answer is the one for things that nobody has. */

/** A text of the same kind that names nothing. */
function nobodys(handle: string): string {
  if (/^\d+$/.test(handle)) return "999999999";
  if (handle.includes("@")) return "nobody@nowhere.example";
  return handle.replace(/[0-9a-z]+$/, (rest) => "0".repeat(rest.length));
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** An answer without what it repeats of the request, and without what is new each time. */
function told({ status, headers, text }: Awaited<ReturnType<typeof ask>>, handle: string): string {
  const spellings = [handle, nobodys(handle)].flatMap((one) => [one, encodeURIComponent(one)]);
  const repeated = new RegExp(`(?<![\\w-])(?:${[...new Set(spellings)].map(escaped).join("|")})(?![\\w-])`, "g");
  const fixed = [...headers].filter(([name]) => !["set-cookie", "content-length"].includes(name));
  const shown = text
    .replaceAll(/(?<=name="_csrf" value=")[^"]+|data-challenge="[^"]+"|(?<=name="sealed" value=")[^"]+/g, "")
    .replaceAll(/<svg.*?<\/svg>|(?:[A-Z2-7]{4} )+[A-Z2-7]{4}/gs, "");
  return [String(status), ...fixed.map((one) => one.join(": ")), shown].join("\n").replaceAll(repeated, "…");
}

/** Two teams with something of everything, and an owner of the first one. */
async function build(): Promise<{ t: TestInstance; as: Somebody; theirs: readonly string[] }> {
  const t = await startInstance({ settings: { limitRead: "off" } });
  const { core } = t.instance;
  const [foreign, own] = [await t.team({ name: "Foreign" }), await t.team({ name: "Own" })];
  const makeMore = async (team: { id: string }, owner: Somebody) => {
    const target = "https://hooks.example.com/x";
    const hook = { teamId: team.id, kind: "webhook", name: "hook", target, events: ["gap"] } as const;
    const { channel } = await createChannel(core, hook, COMMAND_LINE);
    const whole = { scope: "team", subject: "", period: "month", amountUsd: 50 } as const;
    const budget = await setBudget(core, team.id, whole, COMMAND_LINE);
    const view = { place: "/sessions", name: "view", query: "q=x", shared: true } as const;
    const { id } = await saveView(core, team.id, owner.id, view, COMMAND_LINE);
    const api = await createApiToken(core, { teamId: team.id, userId: null, name: "report" }, COMMAND_LINE);
    return [channel.id, budget.id, id, api.id];
  };
  const { owner } = await fill(t, foreign);
  const more = await makeMore(foreign, owner);
  const { owner: as } = await fill(t, own);
  await makeMore(own, as);
  await somebody(t, own, "member");
  const mine = new Set(handles(t, own, as));
  const theirs = [...handles(t, foreign, owner), ...more, owner.email].filter((handle) => !mine.has(handle));
  return { t, as, theirs: [...new Set(theirs)] };
}

it("answers for a page of another team's thing as for one that nobody has", async () => {
  const { t, as, theirs } = await build();
  const pages = guarded.filter(({ spec }) => spec.method === "GET" && spec.path.includes(":"));
  for (const one of pages.filter(({ spec }) => spec.access !== "operator"))
    for (const handle of theirs) {
      // Of this log the first leaf is its own, which is proved to everybody.
      if (one.spec.id === "evidenceEventProof" && handle === "1") continue;
      const [found, missing] = [
        await ask(t, "GET", pathOf(one, handle), { as }),
        await ask(t, "GET", pathOf(one, nobodys(handle)), { as }),
      ];
      expect([one.spec.id, handle, told(found, handle)]).toEqual([one.spec.id, handle, told(missing, handle)]);
    }
  expect(pages.length * theirs.length).toBeGreaterThan(400);
});

interface Drawn {
  readonly action: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** The forms that somebody sees on the pages that lists and lists of lists lead to, one of each kind. */
async function formsSeen(t: TestInstance, as: Somebody): Promise<Drawn[]> {
  const seen = new Map<string, Drawn>();
  const asked = new Set<string>();
  const kinds = new Map<string, number>();
  const gets = guarded.filter(({ spec }) => spec.method === "GET" && spec.access !== "operator");
  const specOf = (path: string) =>
    gets.find(({ spec }) => spec.path === path) ??
    gets.find(({ spec }) => new RegExp(`^${spec.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path));
  const queue = gets.filter(({ spec }) => !spec.path.includes(":")).map(({ spec }) => spec.path as string);
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const one = specOf(path.split("?")[0] as string);
    const times = kinds.get(one?.spec.id ?? "") ?? 0;
    if (!one || asked.has(path) || times > 2) continue;
    asked.add(path);
    kinds.set(one.spec.id, times + 1);
    const { text } = await ask(t, "GET", path, { as });
    for (const [, href = ""] of text.matchAll(/ href="(\/[^"#]*)/g)) queue.push(href.replaceAll("&amp;", "&"));
    for (const [, action = "", inside = ""] of text.matchAll(
      /<form[^>]*method="post"[^>]*action="([^"#]+)"[^>]*>(.*?)<\/form>/gs,
    ))
      seen.set(action.replaceAll(/[a-z]+_\w{26}|\b\d+\b|\b[0-9a-f]{8,}\b/g, ":"), { action, fields: fieldsIn(inside) });
  }
  return [...seen.values()];
}

function fieldsIn(inside: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [tag, kind = "", name = ""] of inside.matchAll(/<(input|textarea|select)[^>]* name="(\w+)"[^>]*>/g)) {
    const value = / value="([^"]*)"/.exec(tag)?.[1] ?? "";
    const chosen =
      kind === "select" ? (/<option value="([^"]+)"/.exec(inside.slice(inside.indexOf(tag)))?.[1] ?? "") : value;
    if (name !== "_csrf" && !(fields.has(name) && !/ checked/.test(tag))) fields.set(name, chosen);
  }
  return fields;
}

/** What ends the visit, or makes what is new each time. */
const ENDING = /^\/(?:logout|people\/leave|account\/sessions)|\/mint$/;

it("answers for a form that names another team's thing as for one that names nothing", async () => {
  const { t, as, theirs } = await build();
  const forms = (await formsSeen(t, as)).filter(({ action }) => !ENDING.test(action));
  expect(forms.length).toBeGreaterThan(40);
  // People, devices, tokens and rows by number; one of each is enough.
  const kinds = Map.groupBy(theirs, (handle) => (handle.includes("@") ? "@" : handle.replace(/[0-9a-z]+$/, "")));
  const named = [...kinds.values()].map(([first]) => first as string);
  let tried = 0;
  for (const { action, fields } of forms)
    for (const field of fields.keys())
      for (const handle of named) {
        const send = (value: string) =>
          ask(t, "POST", action, { as, form: { ...Object.fromEntries(fields), [field]: value, _csrf: as.csrf } });
        const missing = await send(nobodys(handle));
        // A field that takes any text names nothing.
        if (missing.status < 400) break;
        const found = await send(handle);
        expect([action, field, handle, told(found, handle)]).toEqual([action, field, handle, told(missing, handle)]);
        tried++;
      }
  expect(tried).toBeGreaterThan(200);
});
