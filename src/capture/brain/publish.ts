import { asObject, parseJson } from "../../formats/values.ts";
import { isoInstant, MINUTE_MS, SECOND_MS } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import type { Answer } from "../client.ts";
import type { Exchange } from "../exchange.ts";
import { knownPolicy, quietNow } from "../policy.ts";
import { isStill } from "../repository.ts";
import type { Capture } from "../state.ts";
import {
  CAPS,
  type Caps,
  composeSnapshot,
  digestOf,
  readObjections,
  type SnapshotFile,
  withoutSecrets,
} from "./snapshot.ts";
import { type RememberedContents, StoredContents } from "./stored-contents.ts";
import { newestTree, placeOf, readOutgoing, type Tree, type TreeFile, treesAt, unignoredFiles } from "./tree.ts";

/** What is remembered of a brain that was published. */
interface Remembered extends RememberedContents {
  /** Digest of the signatures of all its work trees. */
  readonly seen?: string;
  /** Digest of the snapshot that was sent. */
  readonly digest?: string;
  /**
   * Digest of a part that was sent because the line was too slow for all. The next time its files are named by digest, and the rest is
   * tried.
   */
  readonly part?: string;
  /** Place of the repository that it was read from, see `placeOf`. */
  readonly place?: string;
  /** How many files stay on the machine because git ignores them; null: all, because git did not say. */
  readonly ignored?: number | null;
}

const INTERVAL_MS = MINUTE_MS;
/** Each halves what is sent. */
const MAX_HALVINGS = 4;
const MAX_ROLLBACKS = 3;

/** The work trees of each repository that agents worked in. */
export function treesByRepository({ rows }: Capture): ReadonlyMap<string, readonly string[]> {
  const trees = new Map<string, string[]>();
  for (const { repo, root } of rows.roots.all()) trees.set(repo, [...(trees.get(repo) ?? []), root]);
  return trees;
}

/**
 * Publishes the brains that changed: of each repository from the work tree whose brain was changed last, at most once a minute unless a
 * person waits. Of an unchanged brain only its files' dates are looked at.
 * @returns the repositories whose brain the server has taken
 */
export async function publishBrains(exchange: Exchange): Promise<ReadonlySet<string>> {
  const { capture } = exchange;
  const published = new Set<string>();
  const mode = knownPolicy(capture)?.captureMode;
  // A brain is text: where only facts may leave the machine, none of it does.
  if (mode !== "redacted" && mode !== "full") return published;
  for (const [repo, roots] of treesByRepository(capture)) {
    if (exchange.stopped !== undefined || !exchange.mayDo("brain") || quietNow(capture)) break;
    if (await new Publication(exchange, repo).run(roots)) published.add(repo);
  }
  return published;
}

/** Repositories of which git keeps files of the brain out, and how many; null: git did not say which. */
export function ignoredBrains({ rows }: Capture): { readonly repo: string; readonly files: number | null }[] {
  return rows.brains.all().flatMap(({ repo, manifest }) => {
    const { ignored = 0 }: Remembered = asObject(parseJson(manifest));
    return ignored !== 0 ? [{ repo, files: ignored }] : [];
  });
}

/** One repository's brain on its way. */
class Publication {
  readonly #exchange: Exchange;
  readonly #repo: string;
  #version: number;
  readonly #sentAt: number | null;
  readonly #known: Remembered;
  readonly #stored: StoredContents;
  #isSlow = false;
  /** Digest of the snapshot that was sent last. */
  #digest = "";

  constructor(exchange: Exchange, repo: string) {
    const row = exchange.capture.rows.brain.get(repo);
    this.#exchange = exchange;
    this.#repo = repo;
    this.#version = row?.version ?? 0;
    this.#sentAt = row?.sentAt ?? null;
    this.#known = asObject(parseJson(row?.manifest ?? "{}"));
    this.#stored = new StoredContents(this.#known);
  }

  /** @returns whether the server took it */
  async run(roots: readonly string[]): Promise<boolean> {
    const { capture, isForced } = this.#exchange;
    const sinceLast = capture.clock.now() - (this.#sentAt ?? 0);
    if (!isForced && sinceLast >= 0 && sinceLast < INTERVAL_MS) return false;
    const trees = treesAt(roots);
    const seen = sha256Hex(trees.map(({ root, signature }) => `${root}\0${signature}\n`).join(""));
    if (seen === this.#known.seen) return false;
    const tree = newestTree(this.#repo, trees);
    if (!tree) return false;
    const candidates = unignoredFiles(tree);
    if (!candidates) {
      this.#remember({ ...this.#known, ignored: null }, this.#sentAt);
      return false;
    }
    const ignored = tree.files.length - candidates.length;
    const files = compose(tree, candidates, CAPS);
    const digest = digestOf(files);
    const isNothing = files.length === 0 && this.#version === 0;
    if (isNothing || digest === this.#known.digest) {
      this.#remember({ ...this.#known, seen, ignored }, this.#sentAt);
      return false;
    }
    const place = placeOf(tree.root);
    const left = await this.#leave(place);
    const outcome = left ? await this.#send(files, (caps) => compose(tree, candidates, caps)) : "later";
    if (outcome === "later") {
      this.#remember(this.#known, this.#sentAt);
      return false;
    }
    const { clock } = capture;
    // A refused brain is not sent again before it changes.
    const sentAt = outcome === "sent" ? clock.now() : this.#sentAt;
    if (outcome === "sent") this.#exchange.wentWell("brain");
    // The same part as the last time: this line takes no more.
    const isGrowing = this.#isSlow && this.#digest !== this.#known.part;
    const looked = isGrowing ? { part: this.#digest } : { seen, digest };
    this.#remember({ ...looked, ignored, ...this.#stored.remembered(), place }, sentAt);
    return outcome === "sent";
  }

  /**
   * Empties the brain under other names that its repository was known by, as before it had an origin or got another one: its contents would
   * count twice.
   * @returns whether that is done
   */
  async #leave(place: string): Promise<boolean> {
    const { capture } = this.#exchange;
    const trees = treesByRepository(capture);
    for (const { repo, manifest } of capture.rows.brains.all()) {
      const known: Remembered = asObject(parseJson(manifest));
      if (repo === this.#repo || known.place !== place || trees.get(repo)?.some((root) => isStill(root, repo)))
        continue;
      const before = new Publication(this.#exchange, repo);
      if ((await before.#send([], () => [])) === "later") return false;
      before.#remember({ digest: digestOf([]) }, capture.clock.now());
    }
    return true;
  }

  async #send(
    first: readonly SnapshotFile[],
    composeWithin: (caps: Caps) => SnapshotFile[],
  ): Promise<"sent" | "refused" | "later"> {
    const mostBytes = Math.min(CAPS.snapshotBytes, Math.max(bytesOf(first), CAPS.fileBytes));
    let files = first;
    let version = this.#version + 1;
    let halvings = 0;
    let rollbacks = 0;
    let objected = 0;
    for (;;) {
      const answer = await this.#post(files, version);
      if (answer.kind === "ok") {
        this.#version = version;
        if (asObject(answer.body.ledger).rollback !== true) return "sent";
        // The server knows later versions than this machine remembers: it goes on above them.
        if (++rollbacks > MAX_ROLLBACKS) return "refused";
        version = this.#above(rollbacks);
      } else if (answer.kind === "refused" && answer.status === 422 && objected < 2) {
        files = withoutSecrets(files, readObjections(answer.reason, files), objected++ > 0);
      } else if (answer.kind === "refused" && [408, 413].includes(answer.status) && halvings < MAX_HALVINGS) {
        const part = 2 ** ++halvings;
        objected = 0;
        files = composeWithin({
          fileBytes: Math.floor(CAPS.fileBytes / part),
          snapshotBytes: Math.floor(mostBytes / part),
          files: Math.floor(CAPS.files / part),
        });
      } else if (answer.kind === "refused" && [400, 413, 422].includes(answer.status)) {
        const { rows, clock } = this.#exchange.capture;
        rows.addRejected.run(clock.now(), "brain", answer.reason, JSON.stringify(files.map(({ path }) => path)));
        return "refused";
      } else {
        this.#exchange.setBack("brain", answer);
        return "later";
      }
    }
  }

  /**
   * A version above those that this machine forgot when its own files were restored: first the next one, in case a reply was lost; then one
   * made of the time, which no count of versions has reached.
   */
  #above(rollbacks: number): number {
    const now = this.#exchange.capture.clock.now();
    const counted = [0, Math.floor(now / SECOND_MS), now][rollbacks - 1] ?? now;
    return Math.max(this.#version, counted) + 1;
  }

  /** Recursion ends, because each repetition names fewer files by digest alone. */
  async #post(files: readonly SnapshotFile[], version: number): Promise<Answer> {
    const clientTimestamp = isoInstant(this.#exchange.capture.clock.now());
    const sent = this.#stored.named(files);
    const body = JSON.stringify({ version, repoKey: this.#repo, clientTimestamp, files: sent });
    const answer = await this.#exchange.post("/api/brain/ingest", body, "brain");
    this.#isSlow ||= answer.kind === "refused" && answer.status === 408;
    this.#digest = digestOf(files);
    return this.#stored.learn(answer, files, sent) ? this.#post(files, version) : answer;
  }

  #remember(known: Remembered, sentAt: number | null): void {
    this.#exchange.capture.rows.putBrain.run(this.#repo, this.#version, JSON.stringify(known), sentAt);
  }
}

const bytesOf = (files: readonly SnapshotFile[]) =>
  files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);

function compose({ root }: Tree, candidates: readonly TreeFile[], caps: Caps): SnapshotFile[] {
  return composeSnapshot(candidates, (path, most) => readOutgoing(root, path, most), caps);
}
