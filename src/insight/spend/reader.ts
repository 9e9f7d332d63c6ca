import type { Core } from "../../core.ts";
import { type ApiPrincipal, apiToken, recordApiRead } from "../../identity/api-tokens/api-tokens.ts";
import { type DevicePrincipal, device } from "../../identity/devices/devices.ts";
import { teamDevice } from "../../identity/sight/sight.ts";
import { credential } from "../../platform/http/credential.ts";

/** Who asks what was spent: a device of a team, or a program. */
type SpendReader = DevicePrincipal | ApiPrincipal;

const isProgram = (reader: SpendReader): reader is ApiPrincipal => "tokenId" in reader;

/** The token of a device, or one with which a program reads. */
export const spendReader = credential<SpendReader>({
  id: "deviceOrApi",
  openapi: device.openapi,
  alternatives: [apiToken.openapi],
  async find(core, token) {
    return (await apiToken.find(core, token)) ?? device.find(core, token);
  },
  faults: device.faults ?? [],
  judge: (core, reader) => void (isProgram(reader) || teamDevice.judge?.(core, reader)),
  sender: (reader) => (isProgram(reader) ? apiToken.sender(reader) : device.sender(reader)),
});

/** Counts a program's read; reads of devices are not counted. @throws Problem unauthorized when its token was revoked meanwhile */
export async function recordReader(core: Core, reader: SpendReader, operation: string): Promise<void> {
  if (isProgram(reader)) await recordApiRead(core, reader, operation);
}
