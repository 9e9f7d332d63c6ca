/** The tables of the lake: their columns in order, as docs/lake.md has them. `team` and `day` are in the names of folders. */

/** `usd` is exact: DECIMAL(38, 12). Whole numbers are of 64 bits, instants milliseconds since the epoch in UTC. */
export type ColumnType = "text" | "whole" | "instant" | "date" | "usd" | "flag";

const tokens = { input_tokens: "whole", output_tokens: "whole", cache_write_tokens: "whole" } as const;

export const TABLES = {
  /** A row an entry of telemetry. */
  entries: {
    shard: "text",
    block: "whole",
    entry: "whole",
    device: "text",
    repo: "text",
    seq: "whole",
    received_at: "instant",
    at: "instant",
    session: "text",
    branch: "text",
    kind: "text",
    model: "text",
    ...tokens,
    cache_read_tokens: "whole",
    reported_usd: "usd",
    payload: "text",
  },
  /** A row a day, device, session, repository, branch, model and size of requests; each call counts once. */
  spend: {
    shard: "text",
    date: "date",
    device: "text",
    repo: "text",
    branch: "text",
    session: "text",
    agent: "text",
    model: "text",
    context: "whole",
    calls: "whole",
    ...tokens,
    cache_read_tokens: "whole",
    cost_usd: "usd",
    unpriced_tokens: "whole",
    reported_usd: "usd",
  },
  /** A row a session. */
  sessions: {
    shard: "text",
    number: "whole",
    device: "text",
    session: "text",
    repo: "text",
    branch: "text",
    agent: "text",
    model: "text",
    outcome: "text",
    result: "text",
    title: "text",
    started_at: "instant",
    duration_ms: "whole",
    commits: "whole",
    failed_steps: "whole",
    errors: "whole",
    tokens: "whole",
    unpriced_tokens: "whole",
    cost_usd: "usd",
  },
  /** A row an entry of an errors file. */
  errors: {
    shard: "text",
    number: "whole",
    repo: "text",
    path: "text",
    line: "whole",
    kind: "text",
    date: "date",
    class: "text",
    title: "text",
    open: "flag",
    rule: "text",
  },
  /** A row a device, with whose it is now. */
  devices: {
    shard: "text",
    device: "text",
    label: "text",
    person: "text",
    email: "text",
    team_name: "text",
    connected_at: "instant",
    revoked_at: "instant",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;

export type TableName = keyof typeof TABLES;

/** What a column holds, as JSON carries it: dollars as trillionths in a text, dates as days since the epoch. */
export type Value = string | number | boolean | null;

/** Rows as they are handed around: values in the order of the columns. */
export type Row = readonly Value[];
