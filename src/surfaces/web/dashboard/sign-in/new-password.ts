import type { Core } from "../../../../core.ts";
import { endApiTokens } from "../../../../identity/api-tokens/api-tokens.ts";
import { endCliTokens, withdrawApprovals } from "../../../../identity/device-flow/device-flow.ts";
import { endReadTokens } from "../../../../identity/read-tokens/read-tokens.ts";
import type { Actor } from "../../../../platform/audit/audit.ts";

/**
 * What ends with an old password besides sign-ins, inside the transaction that stores the new one: approvals that no tool has
 * fetched yet, always; tokens when the person wants it.
 * @param tokens also the person's command-line, read and API tokens
 */
export const endWithPassword =
  (core: Core, tokens: boolean) =>
  (user: { readonly id: string; readonly email: string }, by: Actor): void => {
    withdrawApprovals(core, user.id);
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
