import * as v from "valibot";
import { type Html, html } from "../../../../kit/html.ts";
import { beginning } from "../../../../kit/strings.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import {
  CAPTURE_MODES,
  MAX_GLOBS,
  type Policy,
  readWatchlist,
  type WrongGlob,
} from "../../../../record/policy/policy.ts";
import { type FormError, formSpec, typed } from "../../ui/form-spec.ts";
import { number } from "../../ui/units.ts";
import { MODES } from "./labels.ts";

const MAX_ERRORS = 5;

function wrongText(wrong: readonly WrongGlob[]): string {
  const lines = wrong.slice(0, MAX_ERRORS).map(({ line, glob, wrong }) => {
    const shown = glob.length > 60 ? `${beginning(glob, 60)}…` : glob;
    return `Line ${line} (${shown}) ${wrong}.`;
  });
  const more = wrong.length - lines.length;
  return `${lines.join(" ")}${more > 0 ? ` And ${more} more.` : ""}`;
}

/** A version's number as forms carry it; NaN, which is no version, for anything else. */
export const versionNumber = v.pipe(
  typed,
  v.transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)),
);

/** The form for the policy. */
export const POLICY = formSpec(
  {
    captureMode: {
      kind: "radios",
      name: "capture_mode",
      label: "What agents record",
      required: true,
      options: CAPTURE_MODES.map((mode) => ({ value: mode, label: MODES[mode].name, hint: MODES[mode].means })),
      schema: v.picklist(CAPTURE_MODES, "Choose one of these."),
    },
    watchlist: {
      kind: "textarea",
      label: "Watchlist",
      hint: html`Files whose edits always need a record, whatever else is recorded. One glob a line, relative to the repository: <code>src/auth/**</code>, <code>**/*.tf</code>. At most ${number(MAX_GLOBS)}.`,
      placeholder: "src/auth/**",
      mono: true,
      schema: v.pipe(
        typed,
        v.rawTransform(({ dataset, addIssue, NEVER }) => {
          const { globs, wrong } = readWatchlist(dataset.value);
          if (wrong.length === 0) return globs;
          addIssue({ message: wrongText(wrong) });
          return NEVER;
        }),
      ),
    },
    requireApprovals: {
      kind: "checkbox",
      name: "require_approvals",
      label: "Require approvals",
      hint: "Agents ask a person before they act, where they can.",
    },
    // The version that the person saw in force; the form keeps naming it when it comes back with errors.
    basedOn: { kind: "hidden", name: "based_on", schema: versionNumber },
  },
  "Nothing was saved. See below what has to change.",
);

/** The policy that was sent; members of the one in force that the form does not show stay as they are. */
export function policyOf(sent: ReturnType<typeof POLICY.read>, inForce: Policy): Policy {
  const { captureMode, watchlist, requireApprovals } = sent;
  return { ...inForce, captureMode, watchlist, actions: { ...inForce.actions, requireApprovals } };
}

interface PolicyForm {
  readonly policy: Policy;
  readonly basedOn: number;
  readonly submit: string;
  readonly beside?: Html;
  readonly error?: FormError | undefined;
}

export function policyForm(call: PageCall, { policy, basedOn, ...shown }: PolicyForm): Html {
  const watchlist = (policy.watchlist ?? []).join("\n");
  const lines = (call.form.get("watchlist") ?? watchlist).split("\n").length;
  const { captureMode, actions } = policy;
  return POLICY.draw(call, {
    action: "/policy",
    values: { captureMode, watchlist, requireApprovals: actions?.requireApprovals ?? false, basedOn },
    vary: { watchlist: { rows: Math.min(16, Math.max(5, lines + 1)) } },
    ...shown,
  });
}
