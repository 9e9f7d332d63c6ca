import { createHook } from "node:async_hooks";
import { dictionary } from "@zxcvbn-ts/language-common";
import { expect, it } from "vitest";
import {
  createInvitation,
  createResetLink,
  createSetupLink,
} from "../../../src/identity/one-time-links/one-time-links.ts";
import { type Chooser, requireAcceptablePassword } from "../../../src/identity/sign-in/password-rules.ts";
import { hashPassword, verifyPassword } from "../../../src/identity/sign-in/passwords.ts";
import {
  acceptAsNew,
  createUser,
  resetPassword,
  setDisabled,
  setPassword,
  setUp,
  signIn,
} from "../../../src/identity/sign-in/sign-in.ts";
import type { Problem } from "../../../src/kit/problem.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance } from "../../support/instance.ts";

const PASSWORD = "plough-the-north-field";
const ORIGIN = { ip: "192.0.2.1", userAgent: "test" };

it("are stored as argon2id in the PHC format, salted, with the cost in the text", async () => {
  const one = await hashPassword(PASSWORD, systemRandom);
  const two = await hashPassword(PASSWORD, systemRandom);
  // 16 bytes of salt and 32 of tag, base64 without padding.
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(one).not.toBe(two);
  expect([await verifyPassword(PASSWORD, one), await verifyPassword(PASSWORD, two)]).toEqual([true, true]);
  expect(await verifyPassword(`${PASSWORD} `, one)).toBe(false);
});

it("verify at the stored cost, and hashes that we did not write never match", async () => {
  // Argon2id test vector of the reference implementation: password "password", salt "somesalt", m=256, t=2, p=1.
  const reference = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
  expect(await verifyPassword("password", reference)).toBe(true);
  expect(await verifyPassword("passwore", reference)).toBe(false);
  for (const stored of [null, "", "plain", "$2b$10$abcdefghijklmnopqrstuv", reference.replace("argon2id", "argon2i")])
    expect([stored, await verifyPassword("password", stored)]).toEqual([stored, false]);
});

it("are the same however a keyboard composes their letters", async () => {
  const stored = await hashPassword("caf\u00e9 au lait", systemRandom);
  expect(await verifyPassword("cafe\u0301 au lait", stored)).toBe(true);
});

const judge =
  (password: string, chooser: Chooser = { email: "ada.lovelace@engines.example" }) =>
  () =>
    requireAcceptablePassword(password, chooser);

it("are refused when too short or too long", () => {
  expect(judge("seven7x")).toThrow("at least 8");
  // Length counts characters, not UTF-16 units.
  expect(judge("😀😃😄😁😆😅😂")).toThrow("at least 8");
  expect(judge("x7".repeat(513))).toThrow("at most 1024");
  for (const fine of ["äöüßéèêë", PASSWORD, "correct horse battery staple", "gkx27qpm", "Tr0ub4dor&3x"])
    expect(judge(fine), fine).not.toThrow();
});

it("are refused when everybody tries them first, in any case, with digits and signs added, or repeated", () => {
  for (const common of [
    ...["password", "PassWord1", "Password1!", "12345678", "1234567890", "letmein123", "Welcome2026!", "qwertyuiop"],
    ...[
      "aaaaaaaaaa",
      "12341234",
      "abcabcabc",
      "1q2w3e4r",
      "iloveyou2",
      "Sunshine#1",
      "dragon12345",
      "ｐａｓｓｗｏｒｄ",
    ],
  ])
    expect(judge(common), common).toThrow("first that anybody");
});

it("are refused when they are the account's own names, in any spelling", () => {
  const ada = { email: "ada.lovelace@engines.example", name: "Augusta King", teams: ["Analytical Machines", "Ops"] };
  for (const own of [
    ...[
      "Ada.Lovelace@Engines.example",
      "ADA.LOVELACE",
      "adalovelace1",
      "engines2026",
      "engines.example",
      "AugustaKing!",
    ],
    ...[
      "augusta-king",
      "Augusta1843",
      "analytical machines",
      "AnalyticalMachines1",
      "Reckon123",
      "reckon!!",
      "ops12345",
    ],
  ])
    expect(judge(own, ada), own).toThrow("must not be your e-mail address");
  for (const fine of ["Augusta kings analyse", "ops-room lantern", "reckon with the north field"])
    expect(judge(fine, ada), fine).not.toThrow();
});

it("are compared with 3,000 and more of those that leaked most often and are long enough to be chosen", () => {
  const ranked = (dictionary["passwords-common"] as readonly string[]).map((one) => one.toLowerCase());
  const first = ranked.filter((one) => one.length >= 8).slice(0, 3_000);
  expect(first.filter((one) => !refused(one))).toEqual([]);
});

const refused = (password: string) => {
  try {
    judge(password)();
    return false;
  } catch {
    return true;
  }
};

it("are refused wherever one is chosen, by the names of its teams, and then nothing is stored", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const team = await t.team({ name: "Northfield Works" });
  const own = "NorthfieldWorks7";
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  const inTeam = { email: "ada@example.com", password: own, team: { id: team.id, role: "owner" } } as const;
  await expect(createUser(core, inTeam, COMMAND_LINE)).rejects.toThrow("your team's name");
  const chosen = { email: "bob@example.com", name: null, password: own };
  await expect(acceptAsNew(core, invitation.token, chosen, ORIGIN)).rejects.toThrow("your team's name");
  const link = await createSetupLink(core);
  for (const wanted of [{ takeOver: team.id }, { make: "Northfield works" }])
    await expect(setUp(core, link?.token as string, chosen, wanted, ORIGIN)).rejects.toThrow("your team's name");
  expect([t.count("users"), t.count("web_sessions")]).toEqual([0, 0]);
  const ada = await createUser(core, { ...inTeam, password: PASSWORD }, COMMAND_LINE);
  const before = t.rows("SELECT password_hash FROM users");
  await expect(setPassword(core, ada.id, own, COMMAND_LINE)).rejects.toThrow("your team's name");
  const reset = await createResetLink(core, ada.id, COMMAND_LINE);
  await expect(resetPassword(core, reset.token, own, ORIGIN)).rejects.toThrow("your team's name");
  expect(t.rows("SELECT password_hash FROM users")).toEqual(before);
});

it("are hashed also for accounts that do not exist, are closed or have no password, with the same answer", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const bob = await createUser(core, { email: "bob@example.com", password: PASSWORD }, COMMAND_LINE);
  await setDisabled(core, bob.id, true, COMMAND_LINE);
  const carol = await createUser(core, { email: "carol@example.com", password: PASSWORD }, COMMAND_LINE);
  core.store.db.prepare("UPDATE users SET password_hash = NULL WHERE id = ?").run(carol.id);
  await createUser(core, { email: "ada@example.com", password: PASSWORD }, COMMAND_LINE);
  const answers: unknown[] = [];
  for (const email of ["nobody@example.com", "bob@example.com", "carol@example.com", "ada@example.com"]) {
    const { hashes, outcome } = await countingHashes(() => signIn(core, email, "a wrong password", ORIGIN));
    answers.push({ hashes, outcome: (outcome as Error).message });
  }
  expect(answers).toEqual(
    Array(4).fill({ hashes: 1, outcome: "The e-mail address and the password do not belong together." }),
  );
});

/** Does some work and counts the hashes that the runtime really computes meanwhile. */
async function countingHashes(work: () => Promise<unknown>): Promise<{ hashes: number; outcome: unknown }> {
  let hashes = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === "ARGON2REQUEST") hashes++;
    },
  }).enable();
  const outcome = await work().catch((error: unknown) => error);
  hook.disable();
  return { hashes, outcome };
}

it("end every other sign-in and every reset link when they change", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const ada = await createUser(core, { email: "ada@example.com", password: PASSWORD }, COMMAND_LINE);
  await signIn(core, ada.email, PASSWORD, ORIGIN);
  await signIn(core, ada.email, PASSWORD, ORIGIN);
  const keep = t.rows("SELECT id FROM web_sessions ORDER BY created_at, id")[0].id;
  await setPassword(core, ada.id, "another pass phrase", COMMAND_LINE, keep);
  expect(t.rows("SELECT id FROM web_sessions WHERE ended_at IS NULL")).toEqual([{ id: keep }]);
  await expect(signIn(core, ada.email, PASSWORD, ORIGIN)).rejects.toMatchObject({ status: 401 });
  await expect(signIn(core, ada.email, "another pass phrase", ORIGIN)).resolves.toMatchObject({
    session: expect.stringMatching(/^rks_/),
  });
});

it("are checked in turn, so that somebody with many addresses keeps nobody else out", async () => {
  const cheap = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
  const done: string[] = [];
  const look = (who: string, ip?: string) =>
    verifyPassword("password", cheap, ip).then(
      (right) => {
        done.push(`${who} ${right}`);
        return 200;
      },
      ({ status, details }: Problem) => [status, details.retryAfterSeconds],
    );
  // The networks of one subscriber, and those of a whole provider.
  const flood = Array.from({ length: 300 }, (_, i) => look("flood", `2001:db8:${(i % 30).toString(16)}:${i}::1`));
  const others = [look("neighbour", "2001:db8:ff::1"), look("elsewhere", "192.0.2.7"), look("known")];
  expect(await Promise.all(others)).toEqual([200, 200, 200]);
  const places = ["neighbour true", "elsewhere true", "known true"].map((one) => done.indexOf(one));
  expect(places.every((place) => place >= 0 && place < 70)).toBe(true);
  const floods = await Promise.all(flood);
  expect(floods.filter((one) => one === 200)).toHaveLength(100);
  expect(floods.filter((one) => one !== 200)).toEqual(Array(200).fill([503, 5]));
});

it("let somebody in while a provider's worth of addresses guesses", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const everybody = Array.from({ length: 150 }, (_, i) => `person${i}@example.com`);
  for (const email of ["ada@example.com", ...everybody]) await makeAccount(core, { email });
  const from = (ip: string) => ({ ip, userAgent: null });
  const guesses = everybody.map((email, i) =>
    signIn(core, email, "a wrong password", from(`2001:db8:0:${i.toString(16)}::1`)).catch(
      ({ status }: Problem) => status,
    ),
  );
  expect(await signIn(core, "ada@example.com", PASSWORD, from("192.0.2.7"))).toMatchObject({
    session: expect.stringMatching(/^rks_/),
  });
  const answers = await Promise.all(guesses);
  expect(new Set(answers)).toEqual(new Set([401, 503]));
});
