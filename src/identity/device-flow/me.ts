import * as v from "valibot";
import { endpoint } from "../../platform/http/endpoint.ts";
import { cliToken } from "./verify.ts";

/** Tells a command-line tool who is signed in. */
export const me = endpoint(
  {
    id: "cliMe",
    method: "GET",
    path: "/api/cli/me",
    summary: "Whose access token this is",
    tag: "CLI sign-in",
    auth: cliToken,
    ok: v.object({ userId: v.string(), email: v.pipe(v.string(), v.metadata({ format: "email" })) }),
    faults: [],
    limits: [],
    example: { ok: { userId: "usr_06a15c9c007x7v3w3nbxrw2s5m", email: "ada@example.com" } },
  },
  ({ principal: { userId, email } }) => ({ userId, email }),
);
