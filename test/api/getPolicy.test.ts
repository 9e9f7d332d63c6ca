import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { startInstance, startWithDevice } from "../support/instance.ts";

it("answers the default policy until a team sets one", async () => {
  const { t, token } = await startWithDevice();
  const answer = await t.get("/api/policy", { token });
  expect(answer.body).toEqual({
    ok: true,
    captureMode: "redacted",
    watchlist: [],
    actions: { requireApprovals: false },
  });
});

it("answers 304 to an agent that has the policy already, and the new one after a change", async () => {
  const { t, token, team } = await startWithDevice();
  const etag = (await t.get("/api/policy", { token })).headers.get("etag") as string;
  const unchanged = await t.get("/api/policy", { token, headers: { "if-none-match": etag } });
  expect([unchanged.status, unchanged.text, unchanged.headers.get("etag")]).toEqual([304, "", etag]);
  await setPolicy(
    t.instance.core,
    team.id,
    parsePolicy('{"captureMode":"metadata","watchlist":["src/auth/**"]}'),
    COMMAND_LINE,
  );
  const changed = await t.get("/api/policy", { token, headers: { "if-none-match": `W/"x", ${etag}` } });
  expect(changed.status).toBe(200);
  expect(changed.body).toMatchObject({ captureMode: "metadata", watchlist: ["src/auth/**"] });
  expect(t.count("policies")).toBe(1);
});

it("applies a change once that is sent twice, and refuses one based on an earlier version", async () => {
  const t = await startInstance();
  const { id } = await t.team();
  const change = (captureMode: string) =>
    setPolicy(t.instance.core, id, parsePolicy(JSON.stringify({ captureMode })), COMMAND_LINE, { basedOn: 0 });
  expect(await Promise.all([change("off"), change("off")])).toEqual([true, false]);
  await expect(change("full")).rejects.toThrow("meanwhile");
  expect(t.count("policies")).toBe(1);
});

it("names the log as checkpoints do, with the policy and without", async () => {
  const { t, token } = await startWithDevice();
  const [origin] = (await t.get("/ledger/checkpoint")).text.split("\n");
  expect(origin).toMatch(/\/1$/);
  const { headers } = await t.get("/api/policy", { token });
  expect(headers.get("reckon-log")).toBe(origin);
  const unchanged = await t.get("/api/policy", { token, headers: { "if-none-match": headers.get("etag") as string } });
  expect([unchanged.status, unchanged.headers.get("reckon-log")]).toEqual([304, origin]);
});

it("gives each team its own policy", async () => {
  const { t, device: one } = await startWithDevice();
  const two = await t.device();
  await setPolicy(t.instance.core, one.team.id, parsePolicy('{"captureMode":"off"}'), COMMAND_LINE);
  expect((await t.get("/api/policy", { token: one.token })).body.captureMode).toBe("off");
  expect((await t.get("/api/policy", { token: two.token })).body.captureMode).toBe("redacted");
});

it.each([
  ["not JSON", "{"],
  ["an unknown mode", '{"captureMode":"all"}'],
  ["an unknown member", '{"captureMode":"off","watchList":[]}'],
  ["a watchlist of numbers", '{"captureMode":"off","watchlist":[1]}'],
])("refuses a policy file with %s", (_, text) => {
  expect(() => parsePolicy(text)).toThrow(/policy/);
});

it.each([
  ['{"captureMode":"some"}', 'in the policy, "captureMode" must be one of "off", "metadata", "redacted", "full"'],
  ['{"captureMode":"full","capturemode":"off"}', 'in the policy, "capturemode" is not known'],
  ["{}", 'in the policy, "captureMode" is missing'],
  ["[]", 'in the policy, "captureMode" is missing'],
  ["7", "in the policy, the document must be an object"],
  [
    JSON.stringify({ captureMode: "full", watchlist: Array(10_000).fill("a") }),
    expect.stringMatching(/^in the policy, "watchlist" must have at most \d+ entries$/),
  ],
])("tells for %j which values are valid", (text, says) => {
  let message: unknown;
  try {
    parsePolicy(text);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toEqual(says);
});
