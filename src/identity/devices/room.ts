import { room } from "../../platform/rooms/rooms.ts";
import { disconnect } from "./disconnect.ts";
import { exchange } from "./exchange.ts";
import { deviceMetrics } from "./figures.ts";
import { license } from "./get-license.ts";
import { watchPrincipals } from "./principals.ts";
import { watchDevices } from "./roster.ts";
import { rotate } from "./rotate.ts";

export const devices = room({
  name: "devices",
  tags: { Connect: "Binding machines to teams, and the life of their tokens." },
  endpoints: [exchange, rotate, disconnect],
  open(core) {
    watchPrincipals(core);
    watchDevices(core);
  },
  metrics: deviceMetrics,
  auditActions: {
    "code.created": { label: "Connect code minted", did: "minted a connect code" },
    "code.revoked": { label: "Connect code ended", did: "ended a connect code" },
    "team.seats_exceeded": { label: "More devices than seats", did: "saw more devices than seats of the team" },
    "device.connected": { label: "Device connected", did: "connected the device" },
    "device.assigned": { label: "Device assigned", did: "assigned the device" },
    "device.renamed": { label: "Device renamed", did: "renamed a device to" },
    "device.rotated": { label: "Device token replaced", did: "replaced the token of the device" },
    "device.disconnected": { label: "Device disconnected", did: "disconnected the device" },
    "device.revoked": { label: "Device revoked", did: "revoked the device" },
  },
});

/** The licence of a device's team. A room of its own, so that it stands among the other operations on licences in the documents. */
export const deviceLicense = room({ name: "device-license", endpoints: [license] });
