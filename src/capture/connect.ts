import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { asObjects } from "../formats/values.ts";
import { DAY_MS } from "../kit/clock.ts";
import { fail, invalid } from "../kit/problem.ts";
import { readServerUrl } from "../kit/reach.ts";
import { counted } from "../kit/strings.ts";
import { local } from "../platform/store/store.ts";
import { bind, readCredentialsIfAny, unbind } from "./bind.ts";
import { removeManagedBlocks } from "./brain/nightly.ts";
import { FILES, FOLDERS } from "./brain/tree.ts";
import { ask } from "./client.ts";
import { agentHome, placesIn, removeHome } from "./home.ts";
import type { Change } from "./install/installer.ts";
import { type PassResult, runPass } from "./pass.ts";
import {
  type FoundAgent,
  findAgents,
  installHooks,
  planTimerHere,
  removeHooks,
  startTimer,
  stopTimer,
} from "./setup.ts";
import {
  type Capture,
  type CaptureParts,
  CHOSEN_AGENTS,
  type Credentials,
  chosenAgents,
  openCapture,
  readCredentials,
  SINCE,
  writeSetting,
} from "./state.ts";
import { readStatus } from "./status.ts";

/** How far back is read by default. */
export const DEFAULT_SINCE_MS = 30 * DAY_MS;

/** A pass that reads or sends much takes its time. */
const WAIT_FOR_PASS_MS = 30_000;
const ASK_AGAIN_MS = 100;

export interface ConnectOptions {
  /** Only these agents; by default all, also those that are installed later. */
  readonly agents?: readonly string[] | undefined;
  /** How far back to read, in milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly label?: string | undefined;
  readonly timer?: boolean | undefined;
  readonly insecure?: boolean | undefined;
  /** Whether the machine stays with this server even when that sends it on to another. */
  readonly pin?: boolean | undefined;
}

/** What connecting would do. */
export interface ConnectPlan {
  readonly url: string;
  /** Undefined where the machine is connected already, and only its hooks are put in place again. */
  readonly code: string | undefined;
  readonly found: readonly FoundAgent[];
  readonly timer: readonly Change[];
  /** What of a repository is published as its brain. */
  readonly brain: readonly string[];
  /** Milliseconds since the epoch: nothing from before is read. */
  readonly since: number;
  readonly options: ConnectOptions;
}

/**
 * Finds out what connecting would read and change. Writes nothing.
 * @returns undefined where neither an address with a code nor an existing connection says where to connect
 * @throws Problem for an address that is none
 */
export function planConnect(
  parts: CaptureParts,
  url: string | undefined,
  code: string | undefined,
  options: ConnectOptions,
): ConnectPlan | undefined {
  const { machine, clock } = parts;
  const here = { machine, places: placesIn(agentHome(machine)) };
  const since = clock.now() - (options.sinceMs ?? DEFAULT_SINCE_MS);
  const known = code === undefined ? readCredentials(here.places) : undefined;
  if ((url === undefined || code === undefined) && (url !== undefined || !known)) return undefined;
  return {
    url: known?.url ?? readServerUrl(url ?? "", options.insecure),
    code,
    found: findAgents(here, since, options.agents ?? (known && chosenHere(parts))),
    timer: options.timer ? planTimerHere(here) : [],
    brain: [...FOLDERS.map((folder) => `${folder}/**.md`), ...FILES],
    since,
    options,
  };
}

/** The agents that were chosen when the machine was connected; undefined: all. */
function chosenHere(parts: CaptureParts): readonly string[] | undefined {
  const capture = openCapture(parts);
  try {
    return chosenAgents(capture);
  } finally {
    capture.close();
  }
}

export interface Connected {
  readonly credentials: Credentials;
  readonly changed: readonly Change[];
  /** What could not be done, in sentences. */
  readonly problems: readonly string[];
  /** Undefined while another pass is running. */
  readonly pass: PassResult | undefined;
  /** What the sent sessions cost, in dollars; null where the server does not say. */
  readonly usd: number | null;
}

/**
 * Binds the machine, puts one hook into the settings of each agent, and sends what there is.
 * @throws Error with the server's reason
 */
export async function connectMachine(
  capture: Capture,
  plan: ConnectPlan,
  onProgress: (share: number) => void,
): Promise<Connected> {
  const { url, code, found, since, options } = plan;
  const known = code === undefined ? readCredentials(capture.places) : await bindAlone(capture, url, code, options);
  const credentials = known ?? fail(invalid, "this machine is not connected");
  if (code !== undefined || options.sinceMs !== undefined || options.agents)
    watch(capture, since, options.agents ?? null);
  const { changed, problems } = installHooks(
    capture,
    found.map(({ agent }) => agent),
  );
  if (options.timer) problems.push(...startTimer(capture));
  const pass = await runPass(capture, { force: true, onProgress });
  return { credentials, changed, problems, pass, usd: await costOf(credentials) };
}

/** Binds while no pass runs: a pass of the old binding would note numbers as sent that are given anew. */
async function bindAlone(capture: Capture, url: string, code: string, { label, pin }: ConnectOptions) {
  const release = await lockOutPasses(capture);
  return bind(capture, { url, code, label, isPinned: pin }).finally(release);
}

/** What this machine cost so far, at the server's prices. */
async function costOf({ url, token, deviceId }: Credentials): Promise<number | null> {
  const answer = await ask(url, "/api/spend?by=device", { token });
  const groups = answer.kind === "ok" ? asObjects(answer.body.groups) : [];
  const usd = groups.find(({ key }) => key === deviceId)?.usd;
  return typeof usd === "number" ? usd : null;
}

/** Sets what is read from now on. */
function watch(capture: Capture, since: number, agents: readonly string[] | null): void {
  capture.transact(() => {
    writeSetting(capture, SINCE, since);
    writeSetting(capture, CHOSEN_AGENTS, agents);
  });
}

/**
 * Undoes it all: the binding, the hooks, the timer, what stands in agents' instructions, and what the client keeps in its folder, on
 * which `capture` works and which is closed with it.
 * @param force even when not everything was sent, or the server cannot be told
 * @throws Problem where something would be lost
 */
export async function disconnectMachine(
  capture: Capture,
  force: boolean,
): Promise<Pick<Connected, "changed" | "problems"> & { readonly wasConnected: boolean }> {
  if (!force && readCredentials(capture.places)) await sendTheRest(capture);
  const release = await lockOutPasses(capture);
  const undone = await undo(capture, force).finally(release);
  capture.close();
  removeHome(capture.places);
  return undone;
}

/** Waits for the pass that is running. @returns what lets the next one in @throws Problem when it does not end */
export async function lockOutPasses({ places }: Capture): Promise<() => void> {
  for (const until = performance.now() + WAIT_FOR_PASS_MS; ; await sleep(ASK_AGAIN_MS)) {
    const release = local.tryLock(places.lock);
    if (release) return release;
    if (performance.now() > until) fail(invalid, "a pass is running that does not end: try later; nothing was changed");
  }
}

/** Undoes all but the folder. Without credentials no late pass begins. */
async function undo(capture: Capture, force: boolean) {
  const credentials = (force ? readCredentialsIfAny : readCredentials)(capture.places);
  const untold = credentials && (await unbind(credentials));
  if (untold !== undefined && !force)
    fail(
      invalid,
      `the server could not be told (${untold}); nothing was changed. With --force the device stays listed there until it is revoked`,
    );
  const { changed, problems } = removeHooks(capture);
  problems.push(...stopTimer(capture), ...removeManagedBlocks(capture));
  rmSync(capture.places.credentials, { force: true });
  return { changed, problems, wasConnected: credentials !== undefined };
}

async function sendTheRest(capture: Capture): Promise<void> {
  const result = await runPass(capture, { force: true });
  const { waiting } = readStatus(capture);
  if (waiting.entries + waiting.sessions > 0)
    fail(
      invalid,
      `${counted(waiting.sessions, "session")} and ${counted(waiting.entries, "entry", "entries")} were not sent yet (${result?.stopped ?? "another pass is running"}): try later, or give them up with --force`,
    );
}
