import { fault } from "../../platform/http/faults.ts";

export const teamNotFound = fault({
  name: "teamNotFound",
  status: 404,
  code: "not_found",
  shape: "legacy",
  says: "No team was found for this connect code.",
});
export const codeUsed = fault({
  name: "codeUsed",
  status: 400,
  code: "code_used",
  shape: "legacy",
  says: "This connect code was used already; each code connects one device. Mint another.",
});
export const codeExpired = fault({
  name: "codeExpired",
  status: 400,
  code: "code_expired",
  shape: "legacy",
  says: "This connect code has expired. Mint another.",
});
export const invalidToken = fault({
  name: "invalidToken",
  status: 401,
  code: "invalid_token",
  shape: "rotation",
  says: "The device token is not known.",
});
export const tokenExpired = fault({
  name: "tokenExpired",
  status: 403,
  code: "token_expired",
  shape: "rotation",
  says: "The device token has expired; connect the device again with a new code.",
});
export const tokenRevoked = fault({
  name: "tokenRevoked",
  status: 403,
  code: "token_revoked",
  shape: "rotation",
  says: "The device was disconnected; connect it again with a new code.",
});
export const alreadyRotated = fault({
  name: "alreadyRotated",
  status: 409,
  code: "already_rotated",
  shape: "rotation",
  says: "This token was rotated already; use the token that replaced it.",
});
