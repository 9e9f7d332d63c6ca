/**
 * Connect: one-time codes, the devices bound with them, and the life of a device's token.
 * Not here: what a device may do with its token (each ingest room), the licence a binding carries (license).
 */

export type { DevicePrincipal } from "../accounts/accounts.ts";
export { bindDevice, listDevices, revokeDevice, touchDevice } from "./binding.ts";
export { createCode, listOpenCodes, revokeCode } from "./codes.ts";
export { connectedBy } from "./connected-by.ts";
export { device } from "./credential.ts";
export {
  countDevices,
  type DeviceCounts,
  type DeviceOverview,
  deviceOverview,
  findDeviceOf,
  renameDevice,
  revokeDeviceOf,
} from "./overview.ts";
