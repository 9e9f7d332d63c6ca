/**
 * Live pages: tells an open page that what it shows has changed, by server-sent events (HTML Living Standard, section 9.2). The event does
 * not say what changed: the page is fetched again, with the same checks as ever.
 * Not here: what a page follows, and who may (web/dashboard); what was delivered (log).
 */
import { type Core, slot } from "../../core.ts";
import type { PageReply } from "../http/page.ts";
import { figure } from "../metrics/metrics.ts";

/** What a page follows. */
export interface Watch {
  /** Who looks: one person has only so many streams. */
  readonly person: string;
  /** The state that the page was drawn from, according to its request. */
  readonly since: string | undefined;
  /**
   * A name of the latest state: letters, digits, dots and hyphens. Asked for when something was delivered, and every few seconds, so it
   * must cost no more than one or two indexed queries.
   * @returns undefined once there is nothing to follow, or the person may not see it any more: the stream ends
   */
  state(): string | undefined;
}

/** Browsers hold six connections to a server that speaks HTTP/1.1, and pages need some of them. */
const MAX_OF_PERSON = 4;
const MAX_STREAMS = 200;

const TICK_MS = 500;
/** In ticks: how often a stream's rights are checked while nothing is delivered, and how often a silent stream sends a sign of life. */
const LOOK_TICKS = 4;
const BEAT_TICKS = 30;
/** A stream ends after an hour; the browser comes again. */
const LAST_TICK = 7_200;
const RETRY_MS = 3_000;

interface Live {
  readonly streams: Set<Stream>;
  /** Gives the number of the newest delivery; undefined while nobody may follow anything. */
  newest: ((core: Core) => number) | undefined;
  seen: number;
  timer: NodeJS.Timeout | undefined;
}

const live = slot((): Live => ({ streams: new Set(), newest: undefined, seen: 0, timer: undefined }));

export const liveMetrics = [
  figure(
    "gauge",
    "reckon_live_streams",
    "Pages that are told of changes while somebody looks at them.",
    (core) => live(core).streams.size,
  ),
];

/**
 * Answers with a stream of changes: an event whenever the state differs from the last one sent, beginning with `since`.
 * @returns a reply without content when there is no room: the page then stays as it is
 */
export function follow(core: Core, watch: Watch): PageReply {
  const { streams, newest } = live(core);
  const ofPerson = [...streams].filter(({ person }) => person === watch.person).length;
  const fits = newest !== undefined && streams.size < MAX_STREAMS && ofPerson < MAX_OF_PERSON;
  if (!fits) return { status: 204 };
  return {
    media: "text/event-stream",
    // Proxies are asked to pass each event on as it comes, as it is.
    headers: [
      ["cache-control", "no-store, no-transform"],
      ["x-accel-buffering", "no"],
    ],
    // A stream counts once it is read, so HEAD takes no place.
    body: { [Symbol.asyncIterator]: () => new Stream(core, watch) },
  };
}

/** One page that is looked at. */
class Stream implements AsyncIterator<string> {
  readonly person: string;
  readonly #core: Core;
  readonly #watch: Watch;
  #last: string | undefined;
  #ticks = 0;
  #silent = 0;
  #ended = false;
  /** The event for when the reader is ready: of several changes the last. */
  #waiting: string | undefined;
  #wake: ((said: IteratorResult<string, undefined>) => void) | undefined;

  constructor(core: Core, watch: Watch) {
    this.#core = core;
    this.#watch = watch;
    this.person = watch.person;
    const { streams } = live(core);
    streams.add(this);
    const state = this.#now();
    this.#last = watch.since ?? state;
    this.#say(`retry: ${RETRY_MS}\n${this.#last === undefined ? "" : `id: ${this.#last}\n`}\n`);
    this.#tell(state);
    run(core);
  }

  #now(): string | undefined {
    try {
      return this.#watch.state();
    } catch {
      // A state that cannot be read ends the stream; the browser comes again.
      return undefined;
    }
  }

  #tell(state: string | undefined): void {
    if (state === undefined) this.end();
    else if (state !== this.#last) {
      this.#last = state;
      this.#say(`id: ${state}\nevent: changed\ndata: ${state}\n\n`);
    }
  }

  /** Half a second has passed. @param news something was delivered */
  tick(news: boolean): void {
    this.#ticks++;
    this.#silent++;
    if (this.#ticks >= LAST_TICK) this.end();
    else if (news || this.#ticks % LOOK_TICKS === 0) this.#tell(this.#now());
    if (this.#silent >= BEAT_TICKS && this.#waiting === undefined) this.#say(":\n\n");
  }

  #say(text: string): void {
    if (this.#ended) return;
    this.#silent = 0;
    const wake = this.#wake;
    this.#wake = undefined;
    if (wake) wake({ done: false, value: text });
    else this.#waiting = text.startsWith("id:") && this.#waiting?.startsWith("retry:") ? this.#waiting + text : text;
  }

  end(): void {
    this.#ended = true;
    live(this.#core).streams.delete(this);
    this.#wake?.({ done: true, value: undefined });
    this.#wake = undefined;
  }

  next(): Promise<IteratorResult<string, undefined>> {
    const said = this.#waiting;
    this.#waiting = undefined;
    if (said !== undefined) return Promise.resolve({ done: false, value: said });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** The reader has left. */
  return(): Promise<IteratorResult<string, undefined>> {
    this.#waiting = undefined;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }
}

/** Looks for deliveries while anybody follows. */
function run(core: Core): void {
  const state = live(core);
  if (state.timer !== undefined || state.newest === undefined) return;
  state.seen = state.newest(core);
  state.timer = setInterval(() => {
    if (state.streams.size === 0 || state.newest === undefined) {
      clearInterval(state.timer);
      state.timer = undefined;
      return;
    }
    const newest = newestOr(core, state);
    const news = newest !== state.seen;
    state.seen = newest;
    for (const stream of [...state.streams]) stream.tick(news);
  }, TICK_MS).unref();
}

/** The newest delivery. When the store cannot be read, nothing is new: each stream finds that out for itself. */
function newestOr(core: Core, { newest, seen }: Live): number {
  try {
    return newest?.(core) ?? seen;
  } catch {
    return seen;
  }
}

/**
 * Lets pages be followed while the instance runs.
 * @param newestDelivery a number that grows with every delivery, had by one indexed question
 * @returns a function that ends all streams, at once
 */
export function runLive(core: Core, newestDelivery: (core: Core) => number): () => void {
  const state = live(core);
  state.newest = newestDelivery;
  return () => {
    state.newest = undefined;
    clearInterval(state.timer);
    state.timer = undefined;
    for (const stream of [...state.streams]) stream.end();
  };
}
