import { expect, it } from "vitest";
import { startWithDevice } from "../support/instance.ts";
import { brains, describeReal } from "./data.ts";

/**
 * Questions a developer would ask, written before any answer was seen; `file` was found by reading the brains, not by
 * searching them. A `miss` is a known one and says what came instead: the test fails once it is mended, to be told so.
 */
const QUESTIONS: readonly { q: string; file: string; miss?: string }[] = [
  { q: "why is my worktree index corrupt after git gc", file: "docs/KNOWN_LIMITATIONS.md" },
  { q: "what happens to checkpoints when I git stash my changes", file: "docs/architecture/checkpoint-scenarios.md" },
  { q: "how does attribution know which lines the agent wrote", file: "docs/architecture/attribution.md" },
  {
    q: "how do I find out why CI fails on a pull request",
    file: ".agents/skills/fix-ci/SKILL.md",
  },
  { q: "which settings make the Rust binary smaller", file: ".agents/skills/rust-binary-size/SKILL.md" },
  { q: "undo a patch that was applied with git apply", file: ".agents/skills/commit/references/git-apply.md" },
  { q: "python3 not found on Windows", file: "docs/solutions/conventions/resolve-python-interpreter-not-python3.md" },
  {
    q: "tests fail only on Windows because of line endings",
    file: "docs/solutions/developer-experience/windows-crlf-checkout-breaks-newline-anchored-tests.md",
  },
  {
    q: "skill names with a colon break on Windows",
    file: "docs/solutions/integrations/colon-namespaced-names-break-windows-paths.md",
  },
  {
    q: "is it safe to read a cache file from /tmp",
    file: "docs/solutions/best-practices/predictable-tmp-cache-ownership-check.md",
  },
  {
    q: "why did we stop force pushing the results branch",
    file: "docs/adr/0007-conflict-free-results-sync-without-force-push.md",
  },
  { q: "why was the eval dry run removed", file: "docs/adr/0010-remove-eval-dry-run-mock-execution.md" },
  {
    q: "copilot process crashes with EPIPE after the turn",
    file: "docs/solutions/best-practices/prefer-copilot-sdk-tcp-for-owned-runtimes.md",
  },
  { q: "what happens when the auth token of my hermit expires", file: "plugins/claude-code-hermit/docs/faq.md" },
  { q: "how much does it cost to run", file: "plugins/claude-code-hermit/docs/faq.md" },
  {
    q: "how do I pause the hermit",
    file: "plugins/claude-code-hermit/docs/always-on.md",
    miss: "Pausing does not match pause",
  },
  { q: "where are generated images stored on Vercel", file: "memory-bank/systemPatterns.md" },
  {
    q: "how was SSRF through redirects fixed",
    file: ".team/personas/sentinel/journals/2025-12-24-0516-SSRF_via_Unchecked_Redirects.md",
  },
];

/** Files of the hits for all questions, best first; asked over one team that has all the brains. */
let answers: Promise<Map<string, string[]>> | undefined;

async function ask(): Promise<Map<string, string[]>> {
  const { t, device } = await startWithDevice();
  for (const [repoKey, all] of brains()) {
    const files = all.filter((file) => file.path !== ".Jules/palette.md");
    const json = { repoKey, version: 1, files: files.map(({ path, content }) => ({ path, content })) };
    expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
  }
  const found = new Map<string, string[]>();
  for (const { q } of QUESTIONS) {
    const answer = await t.get(`/api/brain/search?${new URLSearchParams({ q })}`, { token: device.token });
    expect(answer.status).toBe(200);
    found.set(
      q,
      (answer.body.hits as { filePath: string }[]).map((hit) => hit.filePath),
    );
  }
  return found;
}

describeReal("a developer's question over seven real brains", () => {
  it("is answered with hits, whatever it is", async () => {
    answers ??= ask();
    expect([...(await answers).values()].filter((files) => files.length === 0)).toEqual([]);
  });

  for (const { q, file, miss } of QUESTIONS) {
    (miss === undefined ? it : it.fails)(`"${q}" has ${file} among the first three`, async () => {
      answers ??= ask();
      expect((await answers).get(q)?.slice(0, 3)).toContain(file);
    });
  }
});
