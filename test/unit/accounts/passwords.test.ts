import { createHook } from "node:async_hooks";
import { expect, it } from "vitest";
import { createUser, setDisabled, setPassword, signIn } from "../../../src/accounts/accounts.ts";
import { hashPassword, requireAcceptablePassword, verifyPassword } from "../../../src/accounts/passwords.ts";
import { systemRandom } from "../../../src/kit/random.ts";
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

it("verify at the cost that is stored, and hashes that nothing of ours wrote are never right", async () => {
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

it("are refused when too short, too long, the address itself or what everybody tries", () => {
  const judge = (password: string) => () => requireAcceptablePassword(password, "ada.lovelace@example.com");
  expect(judge("seven77")).toThrow("at least 8");
  // Length counts characters, not UTF-16 units.
  expect(judge("😀😃😄😁😆😅😂")).toThrow("at least 8");
  expect(judge("x".repeat(1_025))).toThrow("at most 1024");
  expect(judge("Ada.Lovelace@Example.com")).toThrow("e-mail address");
  expect(judge("ADA.LOVELACE")).toThrow("e-mail address");
  for (const common of ["password", "PassWord1", "12345678", "aaaaaaaaaa"])
    expect(judge(common)).toThrow("first that anybody");
  for (const fine of ["eight888", "äöüßéèêë", PASSWORD, "correct horse battery staple"])
    expect(judge(fine)).not.toThrow();
});

it("run a hash for accounts that do not exist, are closed or have no password, and say the same of all", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const bob = await createUser(core, { email: "bob@example.com", password: PASSWORD });
  await setDisabled(core, bob.id, true);
  const carol = await createUser(core, { email: "carol@example.com", password: PASSWORD });
  core.store.db.prepare("UPDATE users SET password_hash = NULL WHERE id = ?").run(carol.id);
  await createUser(core, { email: "ada@example.com", password: PASSWORD });
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
  const ada = await createUser(core, { email: "ada@example.com", password: PASSWORD });
  await signIn(core, ada.email, PASSWORD, ORIGIN);
  await signIn(core, ada.email, PASSWORD, ORIGIN);
  const keep = t.rows("SELECT id FROM sessions ORDER BY created_at, id")[0].id;
  await setPassword(core, ada.id, "another pass phrase", undefined, keep);
  expect(t.rows("SELECT id FROM sessions WHERE ended_at IS NULL")).toEqual([{ id: keep }]);
  await expect(signIn(core, ada.email, PASSWORD, ORIGIN)).rejects.toMatchObject({ status: 401 });
  await expect(signIn(core, ada.email, "another pass phrase", ORIGIN)).resolves.toMatch(/^rks_/);
});
