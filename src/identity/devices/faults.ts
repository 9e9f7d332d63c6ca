import { problem } from "../../kit/problem.ts";

export const teamNotFound = problem({
  name: "teamNotFound",
  status: 404,
  code: "not_found",
  message: "No team was found for this connect code.",
});
export const codeUsed = problem({
  name: "codeUsed",
  status: 400,
  code: "code_used",
  message: "This connect code was used already, as often as it may be. Mint another.",
});
export const codeExpired = problem({
  name: "codeExpired",
  status: 400,
  code: "code_expired",
  message: "This connect code has expired. Mint another.",
});
export const invalidToken = problem({
  name: "invalidToken",
  status: 401,
  code: "invalid_token",
  message: "The device token is not known.",
});
export const tokenExpired = problem({
  name: "tokenExpired",
  status: 403,
  code: "token_expired",
  message: "The device token has expired; connect the device again with a new code.",
});
export const tokenRevoked = problem({
  name: "tokenRevoked",
  status: 403,
  code: "token_revoked",
  message: "The device was disconnected; connect it again with a new code.",
});
export const alreadyRotated = problem({
  name: "alreadyRotated",
  status: 409,
  code: "already_rotated",
  message: "This token was rotated already; use the token that replaced it.",
});
