/*
 * Which rows a team takes along, and what their numbers are in the place that they come to. Every table of the schema is either in
 * `MOVED` or in `LEFT` (left.ts): a test looks, so that none is forgotten.
 */

/** Rows are numbered by each instance for itself: there they get numbers behind those that are taken, and keep their order. */
export type NumberSpace =
  | "policies.id"
  | "delivery_streams.id"
  | "telemetry_streams.id"
  | "telemetry_segments.first_id"
  | "telemetry_blocks.id"
  | "telemetry_conflicts.id"
  | "withheld_ranges.id"
  | "brain_streams.id"
  | "brain_blobs.id"
  | "brain_blocks.id"
  | "brain_manifests.id"
  | "brain_snapshots.id"
  | "trace_sessions.id"
  | "trace_spans.id"
  | "trace_span_blocks.id"
  | "trace_labels.id"
  | "trace_notes.id"
  | "trace_session_edits.id"
  | "device_reads.id"
  | "audit_events.id"
  | "pack_versions.id"
  | "defects.id"
  | "triage_events.id"
  | "spend_cells.id"
  | "session_figures.id";

/** What a column refers to, where the value is another one in the new instance. `leaf`: a number of the log; `person`: an account's id. */
export type Meaning = NumberSpace | "leaf" | "person" | { readonly sql: string };

export interface MovedTable {
  readonly name: string;
  /** Which of its rows, `t`, are those of the team `@team`. */
  readonly where: string;
  /** What is written into the file instead of a column, as SQL over `t`. */
  readonly leaving?: Readonly<Record<string, string>>;
  /** What is written at the other end. In SQL, `OFFSET(space)` is what a number grows by, and `PERSON(x)` the account there. */
  readonly arriving?: Readonly<Record<string, Meaning>>;
}

const OF_TEAM = "t.team_id = @team";
const OF_DEVICE = "t.device_id IN (SELECT id FROM main.devices WHERE team_id = @team)";
const OF_PACK = "t.pack_id IN (SELECT id FROM main.packs WHERE team_id = @team)";
const DELIVERED = "IN (SELECT id FROM main.deliveries WHERE team_id = @team)";
const STREAM = "t.stream_id IN (SELECT id FROM main.telemetry_streams WHERE team_id = @team)";
const OF_SESSION = "t.session_id IN (SELECT id FROM main.trace_sessions WHERE team_id = @team)";

/** People of the team, and whom its rows name. */
const PEOPLE = `t.id IN (
  SELECT user_id FROM main.memberships WHERE team_id = @team
  UNION SELECT person_id FROM main.devices WHERE team_id = @team
  UNION SELECT person_id FROM main.connect_codes WHERE team_id = @team
  UNION SELECT created_by FROM main.connect_codes WHERE team_id = @team
  UNION SELECT user_id FROM main.api_tokens WHERE team_id = @team
  UNION SELECT user_id FROM main.saved_views WHERE team_id = @team
  UNION SELECT user_id FROM main.session_views WHERE team_id = @team
  UNION SELECT owner_id FROM main.triage_words WHERE team_id = @team
  UNION SELECT actor_id FROM main.triage_events WHERE team_id = @team AND actor_kind = 'user'
  UNION SELECT subject FROM main.budgets WHERE team_id = @team AND scope = 'person'
  UNION SELECT created_by FROM main.budgets WHERE team_id = @team
  UNION SELECT created_by FROM main.policies WHERE team_id = @team
  UNION SELECT said_by FROM main.causal_links WHERE team_id = @team
  UNION SELECT decided_by FROM main.causal_links WHERE team_id = @team)`;

/** Of several teams' targets only what is this one's. */
const narrowed = (member: string, own: string, target = "t.target") =>
  `json_replace(${target}, '$.${member}', json((SELECT json_group_array(value) FROM json_each(t.target, '$.${member}') WHERE value ${own})))`;

/** A view of one person's, whom it names by id. */
const VIEWED = `coalesce((SELECT replace(t.query, p.there, p.here) FROM temp.moving_people p
  WHERE p.there <> p.here AND instr(t.query, p.there) > 0), t.query)`;

const OWN_DEVICE = "IN (SELECT id FROM main.devices WHERE team_id = @team)";

const SESSION = "trace_sessions.id";
const LEAF = "leaf";

/** All tables that move, in the order of copying: a table comes after those that it refers to, as far as that is possible. */
export const MOVED: readonly MovedTable[] = [
  {
    name: "users",
    where: PEOPLE,
    leaving: { password_hash: "NULL", operator: "0" },
    arriving: { id: "person" },
  },
  { name: "former_addresses", where: PEOPLE.replace("t.id", "t.user_id"), arriving: { user_id: "person" } },
  {
    name: "teams",
    where: "t.id = @team",
    leaving: { moved_to: "NULL", moved_at: "NULL", move_confirmed_at: "NULL", verified_at: "NULL" },
  },
  { name: "memberships", where: OF_TEAM, leaving: { source: "NULL" }, arriving: { user_id: "person" } },
  { name: "devices", where: OF_TEAM, arriving: { person_id: "person" } },
  { name: "device_tokens", where: OF_DEVICE },
  { name: "connect_codes", where: OF_TEAM, arriving: { person_id: "person", created_by: "person" } },
  { name: "api_tokens", where: OF_TEAM, arriving: { user_id: "person" } },
  { name: "api_token_days", where: "t.token_id IN (SELECT id FROM main.api_tokens WHERE team_id = @team)" },
  { name: "policies", where: OF_TEAM, arriving: { id: "policies.id", created_by: "person" } },
  { name: "policy_violations", where: OF_DEVICE },
  { name: "holds", where: OF_TEAM },
  { name: "retention_rules", where: OF_TEAM },
  {
    name: "erasures",
    // Of a device that a restored backup does not know nothing is left to erase again.
    where: `(${OF_TEAM} OR t.id IN (SELECT erased_by FROM main.deliveries WHERE team_id = @team AND erased_by IS NOT NULL))
      AND (t.kind NOT IN ('device', 'session', 'entry')
        OR json_extract(t.target, '$.deviceId') IN (SELECT id FROM main.devices WHERE team_id = @team))`,
    leaving: {
      target: `CASE t.kind WHEN 'person' THEN ${narrowed("namedOn", OWN_DEVICE, narrowed("deviceIds", OWN_DEVICE))}
        WHEN 'repo' THEN ${narrowed("teamIds", "= @team")} ELSE t.target END`,
    },
    arriving: {
      // A restored copy is erased of it again: of nobody who is not among those that came, or had an account here before.
      target: {
        sql: `iif(t.kind = 'person', json_set(t.target, '$.personId', coalesce((SELECT p.here FROM temp.moving_people p
          WHERE p.there = json_extract(t.target, '$.personId') AND p.known = 0), '')), t.target)`,
      },
    },
  },
  {
    name: "audit_events",
    where: OF_TEAM,
    arriving: { id: "audit_events.id", leaf: LEAF },
  },
  { name: "erased_events", where: OF_TEAM, arriving: { leaf: LEAF } },
  { name: "log_imports", where: OF_TEAM, arriving: { leaf: LEAF } },
  {
    name: "log_import_leaves",
    where: "t.import_leaf IN (SELECT leaf FROM main.log_imports WHERE team_id = @team)",
    arriving: { import_leaf: LEAF, leaf: LEAF },
  },
  {
    name: "log_import_nodes",
    where: "t.import_leaf IN (SELECT leaf FROM main.log_imports WHERE team_id = @team)",
    arriving: { import_leaf: LEAF },
  },
  {
    name: "delivery_streams",
    where: OF_DEVICE,
    arriving: { id: "delivery_streams.id", last: LEAF },
  },
  {
    name: "deliveries",
    where: OF_TEAM,
    leaving: {
      // What a delivery was chained to may be another team's: its hash goes along.
      moved_from: `CASE WHEN t.moved_from IS NULL AND t.chain_sha256 IS NOT NULL THEN json_object('id', t.id, 'chain', lower(hex(
        coalesce((SELECT p.chain_sha256 FROM main.deliveries p WHERE p.id = t.id - 1), zeroblob(32))))) ELSE t.moved_from END`,
    },
    arriving: {
      id: LEAF,
      previous: LEAF,
      stream_id: "delivery_streams.id",
      moved_from: {
        sql: "coalesce(t.moved_from, json_object('id', t.id, 'stream', t.stream_id, 'previous', t.previous))",
      },
    },
  },
  { name: "delivery_items", where: `t.delivery_id ${DELIVERED}`, arriving: { delivery_id: LEAF } },
  { name: "delivery_days", where: OF_TEAM },
  { name: "telemetry_streams", where: OF_TEAM, arriving: { id: "telemetry_streams.id" } },
  { name: "telemetry_gaps", where: STREAM, arriving: { stream_id: "telemetry_streams.id" } },
  {
    name: "telemetry_segments",
    where: STREAM,
    arriving: {
      first_id: "telemetry_segments.first_id",
      stream_id: "telemetry_streams.id",
      delivery_id: LEAF,
      block_id: "telemetry_blocks.id",
    },
  },
  {
    name: "telemetry_blocks",
    where: `t.id IN (SELECT s.block_id FROM main.telemetry_segments s WHERE ${STREAM.replace("t.", "s.")})`,
    arriving: { id: "telemetry_blocks.id", stream_id: "telemetry_streams.id" },
  },
  {
    name: "telemetry_conflicts",
    where: STREAM,
    arriving: { id: "telemetry_conflicts.id", stream_id: "telemetry_streams.id", delivery_id: LEAF },
  },
  {
    name: "withheld_ranges",
    where: `t.delivery_id ${DELIVERED}`,
    arriving: {
      id: "withheld_ranges.id",
      stream_id: {
        sql: "t.stream_id + iif(t.kind = 'brain', OFFSET(brain_streams.id), OFFSET(telemetry_streams.id))",
      },
      delivery_id: LEAF,
    },
  },
  { name: "brain_streams", where: OF_TEAM, arriving: { id: "brain_streams.id" } },
  { name: "brain_blobs", where: OF_TEAM, arriving: { id: "brain_blobs.id", block_id: "brain_blocks.id" } },
  { name: "brain_blocks", where: OF_TEAM, arriving: { id: "brain_blocks.id" } },
  {
    name: "brain_manifests",
    where: OF_TEAM,
    arriving: { id: "brain_manifests.id", entries: { sql: "moved_entries(t.entries, OFFSET(brain_blobs.id))" } },
  },
  {
    name: "brain_snapshots",
    where: OF_TEAM,
    arriving: {
      id: "brain_snapshots.id",
      stream_id: "brain_streams.id",
      manifest_id: "brain_manifests.id",
      delivery_id: LEAF,
    },
  },
  { name: "brain_currents", where: OF_TEAM, arriving: { snapshot_id: "brain_snapshots.id" } },
  { name: "brain_pulses", where: OF_TEAM },
  { name: "trace_sessions", where: OF_TEAM, arriving: { id: SESSION, delivery_id: LEAF } },
  {
    name: "trace_spans",
    where: OF_SESSION,
    arriving: { id: "trace_spans.id", session_id: SESSION, delivery_id: LEAF, block_id: "trace_span_blocks.id" },
  },
  {
    name: "trace_span_blocks",
    where: OF_SESSION,
    arriving: {
      id: "trace_span_blocks.id",
      session_id: SESSION,
      first_span: "trace_spans.id",
      last_span: "trace_spans.id",
    },
  },
  { name: "trace_labels", where: OF_TEAM, arriving: { id: "trace_labels.id", delivery_id: LEAF } },
  { name: "trace_notes", where: OF_TEAM, arriving: { id: "trace_notes.id", delivery_id: LEAF } },
  { name: "trace_note_sessions", where: OF_TEAM, arriving: { note_id: "trace_notes.id" } },
  { name: "trace_session_windows", where: OF_TEAM, arriving: { session_id: SESSION } },
  { name: "trace_session_commits", where: OF_TEAM, arriving: { session_id: SESSION } },
  { name: "trace_session_files", where: OF_TEAM, arriving: { session_id: SESSION } },
  { name: "trace_session_edits", where: OF_TEAM, arriving: { id: "trace_session_edits.id", session_id: SESSION } },
  { name: "session_finds", where: OF_TEAM, arriving: { session_id: SESSION } },
  { name: "session_figures", where: OF_TEAM, arriving: { id: "session_figures.id", session_id: SESSION } },
  { name: "session_views", where: OF_TEAM, arriving: { session_id: SESSION, user_id: "person" } },
  { name: "device_reads", where: OF_DEVICE, arriving: { id: "device_reads.id" } },
  { name: "defects", where: OF_TEAM, arriving: { id: "defects.id" } },
  { name: "defects_gone", where: OF_TEAM, arriving: { id: "defects.id" } },
  { name: "defect_files", where: OF_TEAM, arriving: { blob_id: "brain_blobs.id" } },
  { name: "triage_classes", where: OF_TEAM, arriving: { newest_id: "defects.id" } },
  { name: "triage_words", where: OF_TEAM, arriving: { entry_id: "defects.id", owner_id: "person" } },
  {
    name: "triage_events",
    where: OF_TEAM,
    arriving: {
      id: "triage_events.id",
      entry_id: "defects.id",
      actor_id: "person",
      other_id: {
        sql: `iif(t.kind = 'came-again', CAST(CAST(t.other_id AS INTEGER) + OFFSET(defects.id) AS TEXT), PERSON(t.other_id))`,
      },
    },
  },
  {
    name: "causal_links",
    where: OF_TEAM,
    arriving: {
      said_by: "person",
      decided_by: "person",
      session_id: SESSION,
      entry_id: "defects.id",
      gone_after: "defects.id",
    },
  },
  { name: "spend_cells", where: OF_TEAM, arriving: { id: "spend_cells.id" } },
  { name: "spend_days", where: OF_TEAM },
  { name: "spend_usages", where: OF_TEAM, arriving: { source: SESSION, cell_id: "spend_cells.id" } },
  {
    name: "budgets",
    where: OF_TEAM,
    arriving: { subject: { sql: "iif(t.scope = 'person', PERSON(t.subject), t.subject)" }, created_by: "person" },
  },
  { name: "budget_crossings", where: "t.budget_id IN (SELECT id FROM main.budgets WHERE team_id = @team)" },
  { name: "saved_views", where: OF_TEAM, arriving: { user_id: "person", query: { sql: VIEWED } } },
  { name: "packs", where: OF_TEAM, leaving: { featured_at: "NULL" } },
  { name: "pack_versions", where: OF_PACK, arriving: { id: "pack_versions.id" } },
  { name: "pack_installs", where: `${OF_PACK} AND ${OF_DEVICE}` },
];

/** What of the marketplace may be left behind. */
export const PACK_TABLES: readonly string[] = ["packs", "pack_versions", "pack_installs"];
