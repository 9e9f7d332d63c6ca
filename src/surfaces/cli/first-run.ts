import type { Config } from "../../config.ts";
import type { FirstRun } from "../../identity/sign-in/sign-in.ts";
import { baseUrlOf } from "../../kit/base-url.ts";

/** Where the set-up link leads. */
interface SetUp {
  readonly setupUrl: string;
  /** The same link at the listener's own address, where the public one is another. */
  readonly localSetupUrl?: string;
}

/** A listener on all addresses of the machine: no address to open. */
const EVERY_ADDRESS = /^http:\/\/(?:0\.0\.0\.0|\[::\])(?::|$)/;

/** The addresses of a set-up link; undefined when this start made no link. */
export function setUpUrls(first: FirstRun, config: Config): SetUp | undefined {
  if (first.did !== "link") return undefined;
  const publicUrl = baseUrlOf(config);
  const setupUrl = publicUrl + first.link.path;
  const local = baseUrlOf({ ...config, baseUrl: null });
  if (config.baseUrl === null || new URL(publicUrl).origin === local) return { setupUrl };
  // With https the session cookie is for https only: a sign-in at the listener itself would not last.
  if (publicUrl.startsWith("https:") || EVERY_ADDRESS.test(local)) return { setupUrl };
  return { setupUrl, localSetupUrl: local + new URL(publicUrl).pathname.replace(/\/$/, "") + first.link.path };
}

/** What a person reads at the start. */
export function startLines(url: string, first: FirstRun, setUp: SetUp | undefined): string {
  const lines = [`listening on ${url}`];
  if (setUp) lines.push(`set up: ${setUp.setupUrl}`);
  if (setUp?.localSetupUrl) lines.push(`on this machine also: ${setUp.localSetupUrl}`);
  if (setUp) lines.push("The link works once, for 30 minutes; a restart prints another.");
  if (first.did === "operator") lines.push(`first operator: ${first.email}`);
  if (EVERY_ADDRESS.test(url))
    lines.push(`Links and licences name ${url}, which other machines cannot open: set RECKON_BASE_URL.`);
  return `${lines.join("\n")}\n`;
}
