import { type Html, html } from "../../../../kit/html.ts";
import {
  CAPTURE_MODES,
  type CaptureMode,
  MAX_GLOBS,
  type Policy,
  readWatchlist,
  type WrongGlob,
} from "../../../../share/policy/policy.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { number } from "../../ui/units.ts";
import { MODES } from "./labels.ts";

/** What somebody typed into the form, as it goes back to them. */
export interface PolicyDraft {
  readonly captureMode: string;
  readonly watchlist: string;
  readonly requireApprovals: boolean;
}

/** What was wrong with a draft. */
export interface DraftErrors {
  readonly captureMode?: string;
  readonly watchlist?: string;
}

const MAX_ERRORS = 5;

export const draftOf = ({ captureMode, watchlist, actions }: Policy): PolicyDraft => ({
  captureMode,
  watchlist: (watchlist ?? []).join("\n"),
  requireApprovals: actions?.requireApprovals ?? false,
});

export const readDraft = (fields: URLSearchParams): PolicyDraft => ({
  captureMode: fields.get("capture_mode") ?? "",
  watchlist: fields.get("watchlist") ?? "",
  requireApprovals: fields.has("require_approvals"),
});

/** Makes a policy of a draft; members of the policy in force that the form does not show stay as they are. */
export function judgeDraft(
  draft: PolicyDraft,
  inForce: Policy,
): { readonly policy: Policy } | { readonly errors: DraftErrors } {
  const { globs, wrong } = readWatchlist(draft.watchlist);
  const known = CAPTURE_MODES.some((mode) => mode === draft.captureMode);
  if (wrong.length > 0 || !known)
    return {
      errors: {
        ...(known ? {} : { captureMode: "Choose one of these." }),
        ...(wrong.length > 0 ? { watchlist: wrongText(wrong) } : {}),
      },
    };
  return {
    policy: {
      ...inForce,
      captureMode: draft.captureMode as CaptureMode,
      watchlist: globs,
      actions: { ...inForce.actions, requireApprovals: draft.requireApprovals },
    },
  };
}

function wrongText(wrong: readonly WrongGlob[]): string {
  const told = wrong.slice(0, MAX_ERRORS).map(({ line, glob, wrong }) => {
    const shown = glob.length > 60 ? `${glob.slice(0, 60)}…` : glob;
    return `Line ${line} (${shown}) ${wrong}.`;
  });
  const more = wrong.length - told.length;
  return `${told.join(" ")}${more > 0 ? ` And ${more} more.` : ""}`;
}

interface PolicyForm {
  readonly action: string;
  readonly csrf: string;
  readonly draft: PolicyDraft;
  readonly errors?: DraftErrors | undefined;
  /** The version that the person saw in force; the form keeps naming it when it comes back with errors. */
  readonly basedOn: string;
  readonly submit: string;
  readonly beside?: Html | undefined;
}

/** The form for the policy. */
export function policyForm({ action, csrf, draft, errors, basedOn, submit, beside }: PolicyForm): Html {
  const wrong = errors && "Nothing was saved. See below what has to change.";
  return form({
    action,
    csrf,
    wrong,
    hidden: { based_on: basedOn },
    fields: [
      field({
        kind: "radios",
        name: "capture_mode",
        label: "What agents record",
        error: errors?.captureMode,
        required: true,
        value: draft.captureMode,
        options: CAPTURE_MODES.map((mode) => ({ value: mode, label: MODES[mode].name, hint: MODES[mode].means })),
      }),
      field({
        kind: "textarea",
        name: "watchlist",
        label: "Watchlist",
        hint: html`Files whose edits always need a record, whatever else is recorded. One glob a line, relative to the repository: <code>src/auth/**</code>, <code>**/*.tf</code>. At most ${number(MAX_GLOBS)}.`,
        error: errors?.watchlist,
        value: draft.watchlist,
        rows: Math.min(16, Math.max(5, draft.watchlist.split("\n").length + 1)),
        placeholder: "src/auth/**",
        mono: true,
      }),
      field({
        kind: "checkbox",
        name: "require_approvals",
        label: "Require approvals",
        hint: "Agents ask a person before they act, where they can.",
        checked: draft.requireApprovals,
      }),
    ],
    submit,
    beside,
  });
}
