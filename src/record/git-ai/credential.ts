import { device } from "../../identity/devices/devices.ts";
import { credential } from "../../platform/http/credential.ts";

/**
 * A device's token, sent as what Git AI calls an API key. People who are signed in there send `Authorization` for another service beside
 * it.
 */
export const apiKey = credential({
  ...device,
  header: "x-api-key",
  openapi: { name: "deviceKey", description: "A device token, as the API key of Git AI.", header: "X-API-Key" },
  alternatives: [device.openapi],
});
