import { conflict, fail, notFound } from "../../kit/problem.ts";
import type { LocalInstance } from "./types.ts";

/**
 * Replaces a device's token by the endpoint itself.
 * @throws Problem 404 for a device whose token was not given out here, 409 when the endpoint refuses
 */
export async function rotateKnown(
  local: LocalInstance,
  deviceId: string,
): Promise<{ deviceId: string; deviceToken: string }> {
  const token = local.deviceTokens.get(deviceId);
  if (token === undefined)
    fail(notFound, `The token of a device "${deviceId}" is not known here. GET /_dev/state lists the devices.`);
  const url = `${local.credentials.baseUrl}/api/connect/rotate`;
  const answer = await local.ask(new Request(url, { method: "POST", headers: { authorization: `Bearer ${token}` } }));
  const body = (await answer.json()) as { deviceToken?: string; error?: string };
  if (answer.status !== 200 || body.deviceToken === undefined) fail(conflict, String(body.error));
  local.deviceTokens.set(deviceId, body.deviceToken);
  return { deviceId, deviceToken: body.deviceToken };
}
