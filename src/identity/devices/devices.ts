/**
 * Devices: connect codes, the machines bound with them, the people that these belong to, and the life of a device's token.
 * Not here: what a device may do with its token (each ingest room), the licence a binding carries (license).
 */

export { assignDevice, mayBind } from "./assign.ts";
export { bindDevice, deviceFinder, touchDevice, withDeviceLabels } from "./binding.ts";
export { CODE_LIMITS, createCode, createFleetCodes, listOpenCodes, revokeCode } from "./codes.ts";
export { device } from "./credential.ts";
export { deviceErasure } from "./erase.ts";
export {
  type Device,
  deviceIdsOf,
  devicesInPortions,
  findDeviceOf,
  listDevices,
  renameDevice,
  revokeDevice,
  revokeDevicesOf,
} from "./manage.ts";
export { type DevicePrincipal, findDevice } from "./principals.ts";
export { countDevices, noteSeats } from "./seats.ts";
