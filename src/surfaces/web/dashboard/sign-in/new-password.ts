import type { Core } from "../../../../core.ts";
import { endApiTokens } from "../../../../identity/api-tokens/api-tokens.ts";
import { endCliTokens } from "../../../../identity/device-flow/device-flow.ts";
import { endReadTokens } from "../../../../identity/read-tokens/read-tokens.ts";
import type { Actor } from "../../../../platform/audit/audit.ts";

/** What ends with an old password besides sign-ins, inside the transaction that stores the new one, when the person wants it. */
export const endWithPassword =
  (core: Core, tokens: boolean) =>
  (user: { readonly id: string; readonly email: string }, by: Actor): void => {
    if (!tokens) return;
    endCliTokens(core, user, by);
    endReadTokens(core, user.id, by);
    endApiTokens(core, user.id, by);
  };

/** The field for a new password. */
export const NEW_PASSWORD = {
  kind: "password",
  label: "Password",
  hint: "At least 8 characters; several words are good.",
  required: true,
  minLength: 8,
  autocomplete: "new-password",
} as const;

/** The field for it again. */
export const NEW_PASSWORD_AGAIN = {
  kind: "password",
  label: "The password again",
  required: true,
  autocomplete: "new-password",
} as const;
