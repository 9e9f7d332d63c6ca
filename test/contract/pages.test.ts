import { expect, it } from "vitest";
import { removeMember } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { setSecondFactorDemanded } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { csrfToken } from "../../src/platform/http/cookies.ts";
import { makeAccount } from "../support/accounts.ts";
import {
  type Asked,
  ask,
  CANARY,
  fill,
  guarded,
  handles,
  NAMES,
  PAGES,
  pathOf,
  posts,
  SHA,
  type Somebody,
  somebody,
  stored,
} from "../support/every-page.ts";
import { startInstance, startWithTeam } from "../support/instance.ts";

/** Who may open what, and that nobody reaches another team's record: every page there is, without a browser. */

it("sends whoever is not signed in to the sign-in page, and back afterwards", async () => {
  const t = await startInstance();
  await t.instance.settle();
  const before = stored(t);
  for (const one of guarded) {
    const answer = await ask(t, one.spec.method, pathOf(one));
    expect([one.spec.id, answer.status]).toEqual([one.spec.id, 303]);
    // Somebody who signs out without being signed in is told that they are signed out.
    const query = one.spec.id === "signOut" ? "signed-out=1" : `next=${encodeURIComponent(pathOf(one))}`;
    expect([one.spec.id, answer.headers.get("location")]).toEqual([one.spec.id, `/login?${query}`]);
  }
  expect(stored(t)).toBe(before);
});

it("redirects the address of a form to the page that holds the form", async () => {
  const { t, team } = await startWithTeam();
  const as = await somebody(t, team, "owner", true);
  const gets = PAGES.filter(({ spec }) => spec.method === "GET");
  const forms = posts.filter(({ spec }) => !gets.some((get) => get.spec.path === spec.path));
  let tried = 0;
  for (const one of forms) {
    const { status, headers } = await ask(t, "GET", pathOf(one), { as });
    const location = headers.get("location") ?? "";
    const page = gets.find((get) => pathOf(get) === location);
    expect([one.spec.id, status, location, page !== undefined]).toEqual([one.spec.id, 303, location, true]);
    // The page of an id "none" does not exist; every other one does.
    if (location.includes("none")) continue;
    expect([one.spec.id, (await ask(t, "GET", location, { as })).status]).not.toEqual([one.spec.id, 404]);
    tried++;
  }
  expect(tried).toBeGreaterThan(20);
});

it("answers any text in place of an id in an address, and redirects nowhere else", async () => {
  const t = await startInstance();
  const as = await somebody(t, await t.team(), "owner", true);
  for (const one of PAGES.filter(({ spec }) => spec.method === "GET" && spec.path.includes(":")))
    for (const id of ["\u202e", "\0", "é🦊", "a\r\nlocation: /x", "//evil.example", "..", " "]) {
      const { status, headers } = await ask(t, "GET", pathOf(one, id), { as });
      const location = headers.get("location") ?? "/";
      expect([one.spec.id, id, status < 500, location]).toEqual([
        ...[one.spec.id, id, true],
        expect.stringMatching(/^\/(?!\/)[!-~]*$/),
      ]);
    }
});

it("opens no page to a role below the one it is for", async () => {
  const { t, team } = await startWithTeam();
  const below: Record<string, Somebody[]> = {
    person: [],
    member: [await somebody(t)],
    admin: [await somebody(t), await somebody(t, team, "member")],
    owner: [await somebody(t), await somebody(t, team, "member"), await somebody(t, team, "admin")],
    operator: [await somebody(t), await somebody(t, team, "owner")],
  };
  await t.instance.settle();
  const before = stored(t);
  let tried = 0;
  for (const one of guarded)
    for (const as of below[one.spec.access] ?? []) {
      const form = { _csrf: as.csrf };
      const answer = await ask(t, one.spec.method, pathOf(one), { as, form });
      expect([one.spec.id, answer.status]).toEqual([one.spec.id, 403]);
      expect(answer.text).toContain("<h1>");
      tried++;
    }
  expect(tried).toBeGreaterThan(50);
  expect(stored(t)).toBe(before);
});

it("lets nobody join a team before the second factor that another of their teams demands", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const [team, other] = [await t.team(), await t.team()];
  const as = await somebody(t, team, "member");
  await setSecondFactorDemanded(core, team.id, true, COMMAND_LINE);
  const { path } = await createInvitation(core, { teamId: other.id, role: "owner", email: null }, COMMAND_LINE);
  const before = stored(t);
  const form = { token: path.split("#")[1] as string, _csrf: as.csrf };
  const refused = await ask(t, "POST", "/invitation", { as, form });
  expect([refused.status, refused.headers.get("location")]).toEqual([303, "/account/second-factor"]);
  expect(stored(t)).toBe(before);
  await setSecondFactorDemanded(core, team.id, false, COMMAND_LINE);
  // Sent at once again, it would count as a double click.
  const anew = { ...form, _csrf: csrfToken(as.token, team.id) };
  expect((await ask(t, "POST", "/invitation", { as, form: anew })).headers.get("location")).toBe("/overview");
  expect(t.rows("SELECT role FROM memberships WHERE team_id = ?", other.id)).toEqual([{ role: "owner" }]);
});

it("takes no form without its token or from another site", async () => {
  const t = await startInstance();
  const as = await somebody(t, await t.team(), "owner", true);
  await t.instance.settle();
  const before = stored(t);
  const good = { _csrf: as.csrf };
  const forged: Asked[] = [
    { as },
    { as, form: { _csrf: "" } },
    { as, form: { _csrf: csrfToken("another secret") } },
    { as, form: good, headers: { origin: "https://evil.example" } },
    { as, form: good, headers: { origin: "null" } },
    { as, form: good, headers: { "sec-fetch-site": "cross-site" } },
    { as, form: good, headers: { "sec-fetch-site": "same-site" } },
    { as, form: good, headers: { "sec-fetch-site": "none" } },
  ];
  for (const one of posts)
    for (const [i, how] of forged.entries()) {
      const answer = await ask(t, "POST", pathOf(one), how);
      // A person who is signed in is sent on and not signed in again.
      expect([one.spec.id, i, answer.status]).toEqual([one.spec.id, i, one.spec.signedInSince && i < 3 ? 303 : 403]);
    }
  expect(stored(t)).toBe(before);
});

it("shows nothing of another team, whatever a request names", async () => {
  const t = await startInstance();
  const own = await t.team({ name: "Own" });
  const foreign = await t.team({ name: `${CANARY} team` });
  const { owner } = await fill(t, foreign);
  const as = await somebody(t, own, "owner");
  await t.device(own);
  const gets = guarded.filter(({ spec }) => spec.method === "GET" && spec.access !== "operator");
  let asked = 0;
  for (const one of gets)
    for (const handle of handles(t, foreign, owner)) {
      const query = new URLSearchParams(NAMES.map((name) => [name, handle]));
      query.set("repo", `${CANARY}/repo`);
      query.set("path", `${CANARY}.md`);
      for (const search of ["", `?${query}`]) {
        const answer = await ask(t, "GET", pathOf(one, handle) + search, { as });
        // The reply may repeat what the request says; the rest must not hold the canary.
        const said = answer.text
          .replaceAll(`${CANARY}/repo`, "")
          .replaceAll(`${CANARY}.md`, "")
          .replaceAll(`${CANARY}-session`, "");
        const spoken = said.replaceAll(encodeURIComponent(`${CANARY}/repo`), "");
        expect([one.spec.id, handle, answer.status < 500, spoken.includes(CANARY)]).toEqual([
          one.spec.id,
          handle,
          true,
          false,
        ]);
        // Leaves are numbered over all teams, so one of these is an event of the visitor's own team. The first is the log's own.
        const isOwn =
          one.spec.id === "evidenceEventProof" &&
          (handle === "1" ||
            t.rows("SELECT 1 FROM audit_events WHERE leaf = ? AND team_id = ?", Number(handle), own.id).length > 0);
        if (one.spec.path.includes(":") && search === "" && !isOwn)
          expect([one.spec.id, handle, [303, 404].includes(answer.status)]).toEqual([one.spec.id, handle, true]);
        asked++;
      }
    }
  expect(asked).toBeGreaterThan(200);
  // The canaries' own team sees them; otherwise their absence above would prove nothing.
  const seen = await Promise.all(
    gets.filter(({ spec }) => !spec.path.includes(":")).map((one) => ask(t, "GET", pathOf(one), { as: owner })),
  );
  expect(seen.filter(({ text }) => text.includes(CANARY)).length).toBeGreaterThan(8);
});

it("changes nothing of another team, whatever a form names", async () => {
  const t = await startInstance();
  const own = await t.team({ name: "Own" });
  const foreign = await t.team({ name: `${CANARY} team` });
  const { owner } = await fill(t, foreign);
  expect(t.rows("SELECT band FROM causal_links WHERE team_id = ?", foreign.id)).toEqual([{ band: "strong" }]);
  const as = await somebody(t, own, "owner");
  const ids = handles(t, foreign, owner);
  const theirs = (row: Record<string, unknown>) =>
    Object.values(row).some((value) => typeof value === "string" && (ids.includes(value) || value.includes(CANARY)));
  await t.instance.settle();
  const before = stored(t, theirs);
  const forms = posts.filter(({ spec }) => ["person", "member", "admin", "owner"].includes(spec.access));
  for (const one of forms.filter(({ spec }) => !["signOut", "endOtherSessions"].includes(spec.id)))
    for (const id of ids) {
      const form = {
        _csrf: as.csrf,
        id,
        team: id,
        user: id,
        role: "member",
        name: "x",
        label: "x",
        device: id,
        policy: id,
        session: `${CANARY}-session`,
        commit: SHA,
        verdict: "rejected",
      };
      const answer = await ask(t, "POST", pathOf(one, id), { as, form });
      expect([
        one.spec.id,
        id,
        answer.status < 500,
        answer.text.replaceAll(`${CANARY}-session`, "").includes(CANARY),
      ]).toEqual([one.spec.id, id, true, false]);
    }
  // The visitor's own team may record the attempt, with what was typed.
  expect(stored(t, (row) => theirs(row) && row.team_id !== own.id && row.user_id !== as.id)).toBe(before);
});

it("refuses a budget for a person of another team, and does not reveal that person's name", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const [own, foreign] = [await t.team(), await t.team()];
  const stranger = await makeAccount(core, {
    ...{ email: "stranger@example.com", name: `${CANARY} Stranger` },
    team: { id: foreign.id, role: "member" },
  });
  const colleague = await makeAccount(core, {
    email: "colleague@example.com",
    team: { id: own.id, role: "member" },
  });
  const as = await somebody(t, own, "admin");
  const set = (subject: string, usd: string) =>
    ask(t, "POST", "/spend/budgets", {
      as,
      form: { _csrf: as.csrf, of: `person:${subject}`, period: "month", usd, at: "80" },
    });
  for (const subject of [stranger.id, stranger.email, "usr_nobody", ""]) {
    const answer = await set(subject, "0.01");
    expect([subject, answer.status, answer.text.includes(CANARY)]).toEqual([subject, 400, false]);
  }
  expect(t.count("budgets")).toBe(0);
  expect((await set(colleague.id, "5")).status).toBe(303);
  // The budget of a person who has left can still be changed.
  await removeMember(core, own.id, colleague.id, COMMAND_LINE);
  expect((await set(colleague.id, "7")).status).toBe(303);
  expect(t.rows("SELECT subject, amount_cents FROM budgets")).toEqual([{ subject: colleague.id, amount_cents: 700 }]);
});

it("offers a team's audit only what can happen in a team", async () => {
  const { t, team } = await startWithTeam();
  const as = await somebody(t, team, "owner", true);
  const options = async (path: string) =>
    [...(await ask(t, "GET", path, { as })).text.matchAll(/<option value="([a-z_]+\.[a-z_]+)"/g)].map(
      (match) => match[1],
    );
  const [own, all] = [await options("/audit"), await options("/audit?all=1")];
  expect(own).toContain("read_token.created");
  expect(own.filter((action) => /^(?:session|cli_|key|release|request)/.test(action as string))).toEqual([]);
  expect(all).toEqual(expect.arrayContaining([...own, "session.started", "session.ended", "key.rotated"]));
});
