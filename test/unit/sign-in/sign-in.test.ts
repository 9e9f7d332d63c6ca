import { expect, it } from "vitest";
import { verifyPassword } from "../../../src/identity/sign-in/passwords.ts";
import { confirmPassword, signIn } from "../../../src/identity/sign-in/sign-in.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";

const PASSWORD = "plough-the-north-field";
const from = (ip: string) => ({ ip, userAgent: null });
const account = (t: TestInstance, email: string) => makeAccount(t.instance.core, { email });

/** The statuses of tries one after the other; 200 for a sign-in. */
async function tries(t: TestInstance, count: number, email: string, password: string, ip: (i: number) => string) {
  const seen: number[] = [];
  for (let i = 0; i < count; i++)
    seen.push(
      await signIn(t.instance.core, email, password, from(ip(i))).then(
        () => 200,
        (error: { status: number }) => error.status,
      ),
    );
  return seen;
}

it("slows guesses at one account down whatever addresses they come from, and at no other account", async () => {
  const t = await startInstance();
  await account(t, "ada@example.com");
  await account(t, "bob@example.com");
  const guesses = await tries(t, 12, "ada@example.com", "wrong password", (i) => `198.51.100.${i}`);
  expect(guesses).toEqual([...Array(10).fill(401), 429, 429]);
  // Every spelling of the address is one account.
  expect(await tries(t, 1, " ADA@example.com ", PASSWORD, () => "203.0.113.1")).toEqual([429]);
  expect(await tries(t, 1, "bob@example.com", PASSWORD, () => "198.51.100.0")).toEqual([200]);
  t.clock.advance(90_000);
  expect(await tries(t, 2, "ada@example.com", PASSWORD, () => "203.0.113.1")).toEqual([200, 200]);
});

it("treats accounts that do not exist as it treats those that do", async () => {
  const t = await startInstance();
  expect(await tries(t, 11, "nobody@example.com", PASSWORD, (i) => `198.51.100.${i}`)).toEqual([
    ...Array(10).fill(401),
    429,
  ]);
});

it("lets a person in from an address they signed in from before, however much others guess", async () => {
  const t = await startInstance();
  await account(t, "ada@example.com");
  await account(t, "bob@example.com");
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "192.0.2.7")).toEqual([200]);
  expect(await tries(t, 1, "bob@example.com", PASSWORD, () => "192.0.2.8")).toEqual([200]);
  await tries(t, 20, "ada@example.com", "wrong password", (i) => `198.51.100.${i}`);
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "192.0.2.7")).toEqual([200]);
  // Another person's known address does not help.
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "192.0.2.8")).toEqual([429]);
});

it("knows a person by the IPv6 network that they signed in from, whose addresses change by the day", async () => {
  const t = await startInstance({ settings: { limitSignIn: "off" } });
  await account(t, "ada@example.com");
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "2001:db8:1:2:a:b:c:d")).toEqual([200]);
  await tries(t, 20, "ada@example.com", "wrong password", (i) => `198.51.100.${i}`);
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "2001:db8:1:2::7")).toEqual([200]);
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "2001:db8:1:3::7")).toEqual([429]);
  // The whole network counts as one address, as anywhere else.
  const guesses = await tries(t, 12, "ada@example.com", "wrong password", (i) => `2001:db8:1:2::${i}`);
  expect(guesses).toEqual([...Array(10).fill(401), 429, 429]);
});

it("slows guesses down at a known address too, as at one that is not known", async () => {
  const t = await startInstance({ settings: { limitSignIn: "off" } });
  await account(t, "ada@example.com");
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "192.0.2.7")).toEqual([200]);
  const expected = [...Array(10).fill(401), 429, 429];
  // A colleague at the same address, and somebody elsewhere, cannot tell whether there is an account.
  for (const ip of ["192.0.2.7", "198.51.100.1"]) {
    expect(await tries(t, 12, "ada@example.com", "wrong password", () => ip)).toEqual(expected);
    expect(await tries(t, 12, `nobody@${ip}`, "wrong password", () => ip)).toEqual(expected);
  }
});

it("does not count right passwords, however often and from wherever they are used", async () => {
  const t = await startInstance();
  await account(t, "ada@example.com");
  expect(await tries(t, 15, "ada@example.com", PASSWORD, (i) => `203.0.113.${i}`)).toEqual(Array(15).fill(200));
});

it("says when to try again", async () => {
  const t = await startInstance();
  await tries(t, 10, "ada@example.com", "x", () => "192.0.2.1");
  await expect(signIn(t.instance.core, "ada@example.com", "x", from("192.0.2.1"))).rejects.toMatchObject({
    status: 429,
    details: { retryAfterSeconds: 90 },
    message: expect.stringContaining("Try again in 2 minutes."),
  });
  t.clock.advance(60_000);
  await expect(signIn(t.instance.core, "ada@example.com", "x", from("192.0.2.1"))).rejects.toMatchObject({
    details: { retryAfterSeconds: 30 },
    message: expect.stringContaining("Try again in a minute."),
  });
});

it("records sign-ins and refusals with their address, and of unknown accounts not what was typed", async () => {
  const t = await startInstance();
  await account(t, "ada@example.com");
  await tries(t, 1, "my-password-typed-here@example.com", "x", () => "192.0.2.1");
  await tries(t, 1, "ada@example.com", "wrong", () => "192.0.2.2");
  await tries(t, 1, "ada@example.com", PASSWORD, () => "192.0.2.3");
  expect(t.rows("SELECT actor_label, action, ip FROM audit_events WHERE action LIKE 'session.%' ORDER BY id")).toEqual([
    { actor_label: "unknown", action: "session.refused", ip: "192.0.2.1" },
    { actor_label: "ada@example.com", action: "session.refused", ip: "192.0.2.2" },
    { actor_label: "ada@example.com", action: "session.started", ip: "192.0.2.3" },
  ]);
});

it("limits wrong passwords by address over all accounts, an IPv6 subscriber's as one", async () => {
  const t = await startInstance({ settings: { limitSignIn: "3/60" } });
  await account(t, "ada@example.com");
  const ask = async (address: string, i: number) =>
    (await tries(t, 1, `nobody${i}@example.com`, "x", () => address))[0];
  expect([await ask("2001:db8::1", 1), await ask("2001:db8::2", 2), await ask("2001:db8::3", 3)]).toEqual([
    401, 401, 401,
  ]);
  expect([await ask("2001:db8::4", 4), await ask("2001:db8:0:1::1", 5), await ask("192.0.2.1", 6)]).toEqual([
    429, 401, 401,
  ]);
  // Nor does a right password of somebody new get in: the reply would tell that it was right.
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "2001:db8::4")).toEqual([429]);
  t.clock.advance(20_000);
  // Right passwords do not count.
  expect(await tries(t, 5, "ada@example.com", PASSWORD, () => "2001:db8::4")).toEqual(Array(5).fill(200));
});

it("lets people in where they signed in before, however often a neighbour at their address guesses", async () => {
  const t = await startInstance({ settings: { limitSignIn: "3/60" } });
  await account(t, "ada@example.com");
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "192.0.2.7")).toEqual([200]);
  for (let i = 0; i < 5; i++) await tries(t, 1, `nobody${i}@example.com`, "x", () => "192.0.2.7");
  expect(await tries(t, 1, "nobody@example.com", "x", () => "192.0.2.7")).toEqual([429]);
  expect(await tries(t, 2, "ada@example.com", PASSWORD, () => "192.0.2.7")).toEqual([200, 200]);
  // The neighbour gets the same replies for her account as for one that does not exist, before and after ten wrong tries.
  const told = (email: string) => signIn(t.instance.core, email, "x", from("192.0.2.7")).catch((error) => error);
  for (let i = 0; i < 12; i++) expect(await told("ada@example.com")).toEqual(await told("nobody@example.com"));
});

it("makes whoever guesses at the password of an open session wait, and leaves their sign-in alone", async () => {
  const t = await startInstance();
  const ada = await account(t, "ada@example.com");
  const { core } = t.instance;
  const by = { kind: "user", id: ada.id, label: ada.email, ip: "192.0.2.9" } as const;
  const confirm = (password: string) =>
    confirmPassword(core, ada.id, password, by).then(
      () => 200,
      (error: { status: number }) => error.status,
    );
  const seen: number[] = [];
  for (let i = 0; i < 11; i++) seen.push(await confirm("wrong password"));
  expect(seen).toEqual([...Array(10).fill(403), 429]);
  expect(await confirm(PASSWORD)).toBe(429);
  // Each that was checked is on record, as at signing in.
  expect(
    t.rows(
      "SELECT actor_label, ip, detail FROM audit_events WHERE action = 'session.refused' AND actor_id = ?",
      ada.id,
    ),
  ).toEqual(
    Array(10).fill({
      actor_label: "ada@example.com",
      ip: "192.0.2.9",
      detail: '{"reason":"The present password is not right."}',
    }),
  );
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "192.0.2.1")).toEqual([200]);
  t.clock.advance(90_000);
  expect([await confirm(PASSWORD), await confirm(PASSWORD)]).toEqual([200, 200]);
});

it("counts no try whose password could not be checked, when asking for it again", async () => {
  const t = await startInstance();
  const { id } = await account(t, "ada@example.com");
  const confirm = () =>
    confirmPassword(t.instance.core, id, PASSWORD, COMMAND_LINE).then(
      () => 200,
      (error: { status: number }) => error.status,
    );
  const [{ hash }] = t.rows("SELECT password_hash AS hash FROM users");
  // As many as may be computed and wait at once.
  const others = Array.from({ length: 102 }, () => verifyPassword(PASSWORD, hash));
  const seen: number[] = [];
  for (let i = 0; i < 11; i++) seen.push(await confirm());
  expect(seen).toEqual(Array(11).fill(503));
  await Promise.all(others);
  expect(await confirm()).toBe(200);
});

it("counts no opened one-time link as a try to sign in, and no link as a try at another", async () => {
  const t = await startInstance({ settings: { limitSignIn: "2/60" } });
  await account(t, "ada@example.com");
  for (const path of ["/invitation?token=x", "/reset-password?token=x", "/setup?token=x", "/invitation"])
    for (let i = 0; i < 5; i++) expect([path, (await t.get(path)).status === 429]).toEqual([path, false]);
  expect(await tries(t, 1, "ada@example.com", PASSWORD, () => "127.0.0.1")).toEqual([200]);
});
