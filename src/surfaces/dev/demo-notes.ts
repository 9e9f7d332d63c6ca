import type { Repo } from "./demo-tasks.ts";

/** A file of the brain beside `errors.md`. */
export interface Note {
  readonly repo: Repo;
  /** Working days before the start on which it was written. */
  readonly on: number;
  /** Below `.claude/brain/`. */
  readonly path: string;
  /** `{date}` stands for the day, `{commit:BRANCH}` for the commit that a branch had by then. */
  readonly text: string;
}

export const NOTES: readonly Note[] = [
  {
    repo: "shop",
    on: 20,
    path: "overview.md",
    text: `# Shop

A web shop: catalogue, cart, checkout, reports. TypeScript, Postgres, one process.

## Where things are

- \`src/cart\` counts money, and nothing else does
- \`src/checkout\` is what a customer walks through
- \`src/payment\` talks to the provider and takes its webhooks
- \`src/report\` cuts days and adds them up

## How to run it

\`npm run dev\` starts it with a catalogue of 200 articles. \`npm test -- cart\` runs the tests of one part.
`,
  },
  {
    repo: "shop",
    on: 18,
    path: "security.md",
    text: `# Security

## {date} — Webhook signatures are checked before parsing

The handler in \`src/payment/webhook.ts\` verifies the signature over the raw bytes ({commit:feat/payment-webhooks}). Whoever parses first and checks later checks something else than what was signed.

**Prevention rule:** authenticate bytes before anything reads meaning into them.

## What never goes into a log

Addresses, card details, vouchers. The logger has a list of fields it shows; everything else is left out.
`,
  },
  {
    repo: "shop",
    on: 13,
    path: "anti-patterns.md",
    text: `# Anti-patterns

## {date} — Adding hours to get days

A day has 23, 24 or 25 hours. \`src/report/days.ts\` has the one function that knows, since {commit:fix/timezone-report}.

## Check, then act

A look-up followed by a write is two moments, and somebody else fits in between. Let the write itself decide: a unique index, or an update with its condition.

## Waiting without an end

A default that waits for ever is a fault that has not happened yet.
`,
  },
  {
    repo: "shop",
    on: 19,
    path: "decisions/0001-round-half-up.md",
    text: `# Round half up, once

Decided on {date}. Prices are fractions until they are shown or charged; \`src/cart/totals.ts\` rounds them, half up, because the invoice law of our countries says so.

Turned down: rounding each line, which our accountant found in an hour.
`,
  },
  {
    repo: "shop",
    on: 8,
    path: "decisions/0002-reservations-have-an-end.md",
    text: `# Reservations have an end

Decided on {date}. A reservation of stock is a row with the time at which it ends. Nobody has to release it; a sweep removes what is over.

Consequence: whoever counts stock must compare with the clock.
`,
  },
  {
    repo: "shop",
    on: 3,
    path: "decisions/0003-one-index-for-facets.md",
    text: `# One index for facets

Decided on {date}. Counting facets reads the filtered set once and counts all facets from it. One index serves it: \`migrations/0041-facet-index.sql\`.

Measured on the staging catalogue: 410 ms before, 38 ms after ({commit:perf/facet-index}).
`,
  },
  {
    repo: "shop",
    on: 8,
    path: "sessions/stock-reservation.md",
    text: `# Notes from the work on reservations, {date}

- The payment page can be open in two tabs. Both reserve; the second finds less stock.
- \`src/stock/reserve.ts\` is called from checkout only. Imports of stock bypass it on purpose.
- Still to be looked at: gift cards reserve nothing.
`,
  },
  {
    repo: "shop",
    on: 2,
    path: "sessions/facets.md",
    text: `# Notes from the work on facets, {date}

- Products with two sizes are the hard case.
- The plan of the count query is in the message of {commit:perf/facet-index}.
`,
  },
  {
    repo: "parcels",
    on: 20,
    path: "overview.md",
    text: `# Parcel sync

Fetches the state of parcels from carriers every ten minutes. Python, one process, a table of parcels and one of events.

## Carriers

Each has a client in \`sync/carriers.py\` with a deadline of its own. A new one needs a client, a mapping of its states, and a recorded conversation for the tests.
`,
  },
  {
    repo: "parcels",
    on: 10,
    path: "decisions/0001-the-carriers-time-counts.md",
    text: `# The carrier's time counts

Decided on {date}. Events are ordered by the time that the carrier gives, in its zone, and not by when we heard of them.
`,
  },
  {
    repo: "parcels",
    on: 6,
    path: "anti-patterns.md",
    text: `# Anti-patterns

## {date} — Retrying each for itself

A thousand parcels that each retry five times are five thousand requests to somebody who is down. The run has one budget, in \`sync/retry.py\`, since {commit:chore/retry-budget}.
`,
  },
];
