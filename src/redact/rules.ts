/** The whole rule table, in order: where two rules of one strength claim exactly the same stretch, the earlier row names it. */
import type { Rule } from "./rule.ts";
import { AI_RULES } from "./rules/ai.ts";
import { APP_RULES } from "./rules/apps.ts";
import { AZURE_RULES } from "./rules/azure.ts";
import { CLOUD_RULES } from "./rules/cloud.ts";
import { FORGE_RULES } from "./rules/forge.ts";
import { HOSTING_RULES } from "./rules/hosting.ts";
import { MESSAGE_RULES } from "./rules/messages.ts";
import { PAYMENT_RULES } from "./rules/payments.ts";
import { PLATFORM_RULES } from "./rules/platform.ts";
import { WATCH_RULES } from "./rules/watch.ts";

export const RULES: readonly Rule[] = [
  ...FORGE_RULES,
  ...HOSTING_RULES,
  ...WATCH_RULES,
  ...CLOUD_RULES,
  ...AZURE_RULES,
  ...AI_RULES,
  ...MESSAGE_RULES,
  ...PAYMENT_RULES,
  ...APP_RULES,
  ...PLATFORM_RULES,
];

/** Raised by hand when the code that judges surroundings (not the table) changes what is found. */
const JUDGEMENT = 9;

/**
 * Changes whenever the table does: FNV-1a over every row's id, strength, anchors and pattern. A stored text scanned
 * under another version is due to be scanned again.
 */
export const RULES_VERSION: string = fnv1a(
  [
    JUDGEMENT,
    ...RULES.map((r) =>
      [r.id, r.strength, r.anchors, r.at, String(r.pattern), r.glued, r.needs, r.apart, r.softenedBy].join(" "),
    ),
  ].join("\n"),
);

function fnv1a(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    low = Math.imul(low ^ text.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ text.charCodeAt(i), 0x85ebca6b);
  }
  return ((high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0")).slice(0, 12);
}
