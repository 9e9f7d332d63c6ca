import type { Core } from "../../core.ts";
import { createCliToken, revokeCliToken } from "../../identity/device-flow/device-flow.ts";
import { bindDevice, createCode, revokeDevice } from "../../identity/devices/devices.ts";
import { createReadToken, revokeAnyReadToken } from "../../identity/read-tokens/read-tokens.ts";
import { DAY_MS, isoInstant, MINUTE_MS } from "../../kit/clock.ts";
import { SYSTEM } from "../../platform/audit/audit.ts";
import { rotateKnown } from "./rotate.ts";
import type { LocalInstance } from "./types.ts";

/** The credentials that can be made, with their states; the first state is the default. */
export const STATES = {
  device: ["active", "expired", "revoked", "rotated"],
  connectCode: ["open", "expired", "used"],
  readToken: ["active", "expired", "revoked"],
  cliToken: ["active", "expired", "revoked"],
} as const;

export type Kind = keyof typeof STATES;
export const KINDS = Object.keys(STATES) as [Kind, ...Kind[]];

/** Longer than any credential lives. */
const LONG_AGO_MS = 400 * DAY_MS;

/** The instance as of some time ago: a credential that is made with it is that old. */
function longAgo(core: Core): Core {
  const { now, monotonic } = core.clock;
  return { ...core, clock: { now: () => now() - LONG_AGO_MS, monotonic } };
}

/** Makes a credential in a state. Expired ones are made with a clock far back, so that all that is recorded about them is true. */
export function mintIn(local: LocalInstance, kind: Kind, state: string): Promise<object> {
  const core = state === "expired" ? longAgo(local.core) : local.core;
  if (kind === "device") return mintDevice(local, core, state);
  if (kind === "connectCode") return mintCode(local, core, state);
  return kind === "readToken" ? mintReadToken(local, core, state) : mintCliToken(local, core, state);
}

async function mintDevice(local: LocalInstance, core: Core, state: string): Promise<object> {
  const { code } = await createCode(core, local.credentials.teamId, SYSTEM, MINUTE_MS);
  const { deviceId, deviceToken, expiresAt } = await bindDevice(core, code, "dev", `${state} device`);
  local.deviceTokens.set(deviceId, deviceToken);
  const made = { deviceId, deviceToken, expiresAt: isoInstant(expiresAt) };
  if (state === "revoked") await revokeDevice(core, deviceId, SYSTEM);
  if (state !== "rotated") return made;
  const { deviceToken: replacement } = await rotateKnown(local, deviceId);
  return { ...made, replacement };
}

async function mintCode(local: LocalInstance, core: Core, state: string): Promise<object> {
  const { code, expiresAt } = await createCode(core, local.credentials.teamId, SYSTEM, 30 * DAY_MS);
  if (state === "used") await bindDevice(core, code, "dev", "device of a used code");
  return { connectCode: code, expiresAt: isoInstant(expiresAt) };
}

async function mintReadToken(local: LocalInstance, core: Core, state: string): Promise<object> {
  const { id, token, expiresAt } = await createReadToken(
    core,
    { userId: local.credentials.userId, name: `${state} token` },
    SYSTEM,
  );
  if (state === "revoked") await revokeAnyReadToken(core, id, SYSTEM);
  return { readTokenId: id, readToken: token, expiresAt: isoInstant(expiresAt) };
}

async function mintCliToken(local: LocalInstance, core: Core, state: string): Promise<object> {
  const { userId, email } = local.credentials;
  const { id, accessToken, expiresAt } = await createCliToken(core, { id: userId, email }, SYSTEM);
  if (state === "revoked") await revokeCliToken(core, userId, id, SYSTEM);
  return { cliTokenId: id, cliToken: accessToken, expiresAt: isoInstant(expiresAt) };
}
