import type { Defect } from "../defects/defects.ts";
import { lastOf, longer, sayWhy } from "./explain.ts";
import { type Finding, judge } from "./judge.ts";
import type { LinkRow } from "./link-rows.ts";
import { excerptOf, promptAt } from "./prompts.ts";
import type { LastEdit, Scene } from "./signals.ts";

/** A computed link as it ought to stand. */
export type WantedLink = Pick<
  LinkRow,
  "date" | "fingerprint" | "band" | "sessionId" | "commit" | "promptExcerpt" | "evidence"
>;

/** The links that an entry ought to have, the best first. @param rejected sessions that somebody ruled out */
export function wantedLinks(scene: Scene, defect: Defect, rejected: ReadonlySet<number>): WantedLink[] {
  const known = scene.caseOf(defect, rejected);
  return judge(known).map((finding) => {
    const { sessionId, band, commit } = finding;
    const edits = finding.files.length === 0 ? [] : scene.lastEditsOf(sessionId);
    const maker = commit?.makers.find((one) => one.sessionId === sessionId);
    const at = maker?.at ?? lastEditAt(finding, edits);
    return {
      date: defect.date,
      fingerprint: defect.fingerprint,
      band,
      sessionId,
      commit: commit ? longer(commit.named, maker?.sha) : null,
      promptExcerpt: excerptOf((promptAt(scene.promptsOf(sessionId), at) ?? scene.promptsOf(sessionId)[0])?.text),
      evidence: JSON.stringify(sayWhy(known, finding, scene.windowOf(sessionId), edits)),
    };
  });
}

/** When the session last edited one of the named files. */
function lastEditAt({ files }: Finding, edits: readonly LastEdit[]): number | null {
  const instants = files.map((file) => lastOf(edits, file)?.at ?? null).filter((at) => at !== null);
  return instants.length === 0 ? null : Math.max(...instants);
}
