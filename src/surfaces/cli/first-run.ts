import type { FirstRun } from "../../identity/sign-in/sign-in.ts";

/** Where the set-up link leads. */
interface SetUp {
  readonly setupUrl: string;
  /** The same link at the listener's own address, where the public one is another. */
  readonly localSetupUrl?: string;
}

/** A listener on all addresses of the machine: no address to open. */
const EVERY_ADDRESS = /^http:\/\/(?:0\.0\.0\.0|\[::\])(?::|$)/;

/**
 * The addresses of a set-up link; undefined when this start made no link.
 * @param url the public address
 * @param localUrl the listener's own
 */
export function setUpUrls(first: FirstRun, url: string, localUrl: string): SetUp | undefined {
  if (first.did !== "link") return undefined;
  const setupUrl = url + first.link.path;
  const { origin, pathname, protocol } = new URL(url);
  // With https the session cookie is for https only: a sign-in at the listener itself would not last.
  if (origin === new URL(localUrl).origin || protocol === "https:" || EVERY_ADDRESS.test(localUrl)) return { setupUrl };
  return { setupUrl, localSetupUrl: localUrl + pathname.replace(/\/$/, "") + first.link.path };
}

/** What a person reads at the start. @param url, localUrl as for `setUpUrls` */
export function startLines(url: string, localUrl: string, first: FirstRun, setUp: SetUp | undefined): string {
  const lines = [`listening on ${localUrl}`];
  if (setUp) lines.push(`set up: ${setUp.setupUrl}`);
  if (setUp?.localSetupUrl) lines.push(`on this machine also: ${setUp.localSetupUrl}`);
  if (setUp) lines.push("The link works once, for 30 minutes; a restart prints another.");
  if (first.did === "operator") lines.push(`first operator: ${first.email}`);
  if (url !== localUrl) lines.push(`public address: ${url}`);
  if (EVERY_ADDRESS.test(url))
    lines.push(`Links and licences name ${url}, which other machines cannot open: set RECKON_BASE_URL.`);
  return `${lines.join("\n")}\n`;
}
