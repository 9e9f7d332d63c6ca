import { device } from "../../identity/devices/devices.ts";
import { credential } from "../../platform/http/credential.ts";

/** A device's token, as Git AI sends what it calls an API key; who is signed in there sends `Authorization` for another service beside it. */
export const apiKey = credential({
  ...device,
  header: "x-api-key",
  openapi: { name: "deviceKey", description: "A device token, as the API key of Git AI.", header: "X-API-Key" },
  alternatives: [device.openapi],
});
