import type { Kind } from "../../../../formats/brain-kinds.ts";
import type { ReadScope } from "../../../../identity/read-tokens/read-tokens.ts";
import { type Content, html } from "../../../../kit/html.ts";
import type { TeamSeat } from "../../../../platform/http/page.ts";

/** What a read token may read, in words. */

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  error: "Errors",
  security: "Security",
  "anti-pattern": "Anti-patterns",
  decision: "Decisions",
  session: "Sessions",
  note: "Notes",
};

const MAX_SPELLED = 6;

function list(values: readonly Content[]): Content {
  const shown = values.slice(0, MAX_SPELLED);
  const left = values.length - shown.length;
  return [shown.map((value, i) => [i > 0 && ", ", value]), left > 0 && ` and ${left} more`];
}

/** @param teams the teams that the token's owner is in now */
export function scopeWords({ teams: ids, repos, paths, kinds }: ReadScope, teams: readonly TeamSeat[]): Content {
  const named = ids.map((id) => teams.find((team) => team.id === id)?.name ?? html`<em>a team you left</em>`);
  const code = (text: string) => html`<code>${text}</code>`;
  const kindName = (kind: string) => (KIND_NAMES as Readonly<Record<string, string>>)[kind] ?? kind;
  return html`${named.length === 0 ? "All your teams" : html`Teams: ${list(named)}`}${
    repos.length > 0 && html`<br>Repositories: ${list(repos.map(code))}`
  }${paths.length > 0 && html`<br>Paths: ${list(paths.map(code))}`}${
    kinds.length > 0 && html`<br>Kinds: ${list(kinds.map(kindName))}`
  }`;
}
